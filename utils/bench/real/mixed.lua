-- SPDX-FileCopyrightText: The MProf authors
-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- A small interpreter of arithmetic: strings, tables, closures, coroutines and
-- calls of methods.
--
-- usage: lua mixed.lua ROUNDS

local Parser = {}
Parser.__index = Parser

local function tokens(text)
  return coroutine.wrap(function()
    for number, sign in text:gmatch("(%d*)([^%d%s]?)") do
      if number ~= "" then coroutine.yield(tonumber(number)) end
      if sign ~= "" then coroutine.yield(sign) end
    end
  end)
end

function Parser.new(text)
  local self = setmetatable({next_token = tokens(text)}, Parser)
  self.token = self.next_token()
  return self
end

function Parser:take()
  local token = self.token
  self.token = self.next_token and self.next_token() or nil
  if self.token == nil then self.next_token = nil end
  return token
end

function Parser:atom()
  local token = self:take()
  if token == "(" then
    local inside = self:sum()
    self:take()
    return inside
  end
  return function() return token end
end

function Parser:product()
  local left = self:atom()
  while self.token == "*" do
    self:take()
    local a, b = left, self:atom()
    left = function() return a() * b() % 1000003 end
  end
  return left
end

function Parser:sum()
  local left = self:product()
  while self.token == "+" or self.token == "-" do
    local sign = self:take()
    local a, b = left, self:product()
    if sign == "+" then
      left = function() return a() + b() end
    else
      left = function() return a() - b() end
    end
  end
  return left
end

local function expression(depth, n)
  if depth == 0 then return tostring(n % 97 + 1) end
  local sign = ({"+", "-", "*"})[n % 3 + 1]
  return "(" .. expression(depth - 1, n * 3 + 1) .. sign ..
         expression(depth - 1, n * 5 + 2) .. ")"
end

local total = 0
for round = 1, tonumber(arg[1]) do
  local f = Parser.new(expression(6, round)):sum()
  for _ = 1, 20 do total = (total + f()) % 1000003 end
end
print(total)
