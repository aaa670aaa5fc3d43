-- SPDX-FileCopyrightText: The MProf authors
-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- Makes, fills, sorts and drops many small tables.
--
-- usage: lua tables.lua ROUNDS

local seed = 42
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % n
end

local function tree(depth)
  if depth == 0 then return {value = random(1000)} end
  return {left = tree(depth - 1), right = tree(depth - 1), value = depth}
end

local function sum(t)
  if not t then return 0 end
  return t.value + sum(t.left) + sum(t.right)
end

local total = 0
for _ = 1, tonumber(arg[1]) do
  total = total + sum(tree(10))
  local points = {}
  for i = 1, 1000 do
    points[i] = {x = random(1000), y = random(1000), tags = {i, i + 1}}
  end
  table.sort(points, function(a, b) return a.x < b.x end)
  local by_x = {}
  for _, p in ipairs(points) do
    local list = by_x[p.x] or {}
    list[#list + 1] = p
    by_x[p.x] = list
  end
  for x, list in pairs(by_x) do total = total + x * #list end
end
print(total)
