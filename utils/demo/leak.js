// A server's request loop with two leaks: a registry in the script to which
// every request adds itself, and the host's native cache.

var registry = [];

function handle(request) {
  var reply = { id: request.id, body: [] };
  for (var i = 0; i < 20; i++) {
    reply.body.push(request.path + '?' + i);
  }
  registry.push(reply);
  var key = request.path + '#' + request.id + ':';
  while (key.length < 3000) {
    key += key;
  }
  native_cache_put(key);
  return reply.body.length;
}

(function () {
  var done = 0;
  for (var id = 0; id < 24000; id++) {
    done += handle({ id: id, path: '/api/item/' + id % 100 });
  }
  print('leak:', done, registry.length);
})();
