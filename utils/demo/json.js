// Builds a document, writes it as JSON and reads it back, again and again.

function random(state) {
  state.x = (state.x * 1103515245 + 12345) % 2147483648;
  return state.x;
}

function makeOrder(state, id) {
  var lines = [];
  var n = 3 + random(state) % 6;
  for (var i = 0; i < n; i++) {
    lines.push({
      sku: 'SKU-' + random(state).toString(36),
      quantity: 1 + random(state) % 20,
      price: random(state) % 10000 / 100,
      tags: ['fragile', 'heavy', 'gift'].slice(0, random(state) % 4)
    });
  }
  return {
    id: id,
    customer: { name: 'Customer ' + id, city: 'City ' + random(state) % 50 },
    paid: random(state) % 2 === 0,
    lines: lines
  };
}

function total(orders) {
  var sum = 0;
  orders.forEach(function (order) {
    order.lines.forEach(function (line) {
      sum += line.quantity * Math.round(line.price * 100);
    });
  });
  return sum;
}

(function () {
  var state = { x: 42 };
  var bytes = 0, sum = 0;
  for (var round = 0; round < 40; round++) {
    var orders = [];
    for (var id = 0; id < 600; id++) {
      orders.push(makeOrder(state, id));
    }
    var text = JSON.stringify(orders, null, round % 3);
    bytes += text.length;
    sum += total(JSON.parse(text));
  }
  print('json:', bytes, sum);
})();
