// Concatenates, splits, matches and replaces text.

(function () {
  var words = ('the quick brown fox jumps over the lazy dog while seven ' +
    'wizards mix a potion of jade and quartz').split(' ');
  var hash = 0, matched = 0, length = 0;
  for (var round = 0; round < 300; round++) {
    var text = '';
    for (var i = 0; i < 1500; i++) {
      text += words[(i * 7 + round) % words.length] + (i % 11 ? ' ' : '.\n');
    }
    var lines = text.split('\n').map(function (line) {
      return line.replace(/\b(\w)(\w*)\b/g, function (all, first, rest) {
        return first.toUpperCase() + rest;
      });
    });
    matched += (text.match(/[aeiou]{2}/g) || []).length;
    var joined = lines.join('; ');
    length += joined.length;
    for (var k = 0; k < joined.length; k += 97) {
      hash = (hash * 31 + joined.charCodeAt(k)) % 1000000007;
    }
  }
  print('strings:', length, matched, hash);
})();
