// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the page again when mprof serve has a newer one. The fragment of the
// address stays, so the new page shows the same.

class Renewal {
  constructor(app, version) {
    this.app = app;
    this.version = version;
    this.said = '';
    this.isOn = this.load() !== 'off';
    this.element = h('div', {class: 'renewal'},
        checkbox('renew', 'Loads the page again when its profiles have changed', this.isOn, on => {
          this.isOn = on;
          this.store(on ? 'on' : 'off');
        }), h('button', {onclick: () => location.reload()}, 'Reload'));
    setInterval(() => this.ask(), 2000);
  }

  // A browser may keep nothing.
  load() {
    try {
      return sessionStorage.getItem('renew');
    } catch {
      return null;
    }
  }

  store(value) {
    try {
      sessionStorage.setItem('renew', value);
    } catch {
      // The next page begins with renewals.
    }
  }

  // A page that nobody sees is not renewed, nor one in which the user types or
  // opens a menu.
  isInUse() {
    return document.hidden || document.activeElement.matches('select, input[type="search"]');
  }

  async ask() {
    if (!this.isOn || this.isInUse() || this.isAsking)
      return;
    this.isAsking = true;
    try {
      const reply = await fetch('state' + location.search, {cache: 'no-store'});
      const [version, ...lines] = (await reply.text()).split('\n');
      if (!reply.ok)
        this.say(`mprof serve: ${version}`);
      else if (Number(version) !== this.version && this.isOn && !this.isInUse())
        location.reload();
      else
        this.say(lines.join(' ').trim());
    } catch {
      this.say('mprof serve has ended');
    }
    this.isAsking = false;
  }

  // Other messages in the line stay until there is a new one.
  say(text) {
    if (text !== this.said)
      this.app.say(text);
    this.said = text;
  }
}
