// The time of a motion that is shown, and how fast it runs. Speed 1 is real time.

const LONGEST_FRAME = 0.25; // seconds: after a pause of the browser the motion goes on where it was

class Clock {
  constructor(start, end, speed) {
    Object.assign(this, { start, end, speed, time: start, playing: false, repeat: false, last: null });
    this.listeners = [];
  }

  changed() {
    for (const listener of this.listeners) listener();
  }

  play() {
    if (this.time >= this.end) this.time = this.start;
    this.playing = this.end > this.start;
    this.last = null;
    this.changed();
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(time) {
    this.time = clamp(Number.isFinite(time) ? time : this.start, this.start, this.end);
    this.changed();
  }

  // To a moment of the browser's own clock, in milliseconds.
  advance(now) {
    if (!this.playing) return;
    const passed = this.last === null ? 0 : Math.min(LONGEST_FRAME, (now - this.last) / 1000);
    this.last = now;
    this.time += passed * this.speed;
    if (this.time >= this.end) {
      if (this.repeat) this.time = this.start;
      else {
        this.time = this.end;
        this.pause();
      }
    }
  }
}
