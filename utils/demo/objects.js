// Grows and drops trees, maps and cycles, so that the collector has work.

function insert(tree, key) {
  if (!tree) {
    return { key: key, left: null, right: null };
  }
  if (key < tree.key) {
    tree.left = insert(tree.left, key);
  } else {
    tree.right = insert(tree.right, key);
  }
  return tree;
}

function sum(tree) {
  return tree ? tree.key + sum(tree.left) + sum(tree.right) : 0;
}

function ring(n) {
  var first = { value: 0 }, last = first;
  for (var i = 1; i < n; i++) {
    last.next = { value: i, previous: last };
    last = last.next;
  }
  last.next = first;
  first.previous = last;
  return first;
}

(function () {
  var x = 7, checksum = 0;
  for (var round = 0; round < 200; round++) {
    var tree = null, index = {};
    for (var i = 0; i < 1500; i++) {
      x = (x * 1103515245 + 12345) % 2147483648;
      tree = insert(tree, x % 100000);
      index['key' + x % 5000] = [i, x];
    }
    checksum = (checksum + sum(tree) + Object.keys(index).length +
      ring(2000).next.next.value) % 1000000007;
  }
  print('objects:', checksum);
})();
