-- SPDX-FileCopyrightText: The MProf authors
-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- Joins, splits, formats and replaces strings.
--
-- usage: lua strings.lua ROUNDS

local count = 0
for round = 1, tonumber(arg[1]) do
  local lines = {}
  for i = 1, 200 do
    lines[i] = string.format("%05d;name of %d;%s;%.2f", i, i * round,
                             string.rep("ab", i % 7), i / 3)
  end
  local text = table.concat(lines, "\n")
  local words = {}
  for line in text:gmatch("[^\n]+") do
    for field in line:gmatch("[^;]+") do
      words[field] = (words[field] or 0) + 1
    end
  end
  local changed = text:gsub("name of (%d+)", function(n)
    return "<" .. n .. ">"
  end)
  local upper = changed:upper():reverse()
  local joined = ""
  for i = 1, 100 do joined = joined .. upper:sub(i * 3, i * 3 + 5) end
  for _ in pairs(words) do count = count + 1 end
  count = count + #joined
end
print(count)
