/* story.js - why a filter answers as it does, step by step: in words, and on the picture. */
import { button, h, prefersStill, rove } from './dom.js';
import { cellText, numberText, placeText, valueText } from './words.js';

const LONGEST = 9000; // milliseconds that a story takes to be played
const STEP = 650;

/** A step of an answer, in words. */
export function stepText(step) {
    if (step.type === 'number')
        return [h('b', {}, step.text), ' is ', h('code', {}, numberText(step.text, step.value))];
    if (step.type === 'cell')
        return [h('b', {}, step.text), ` at ${cellText(step.cell)} `, step.agrees
            ? h('span', { class: 'for' }, 'for it')
            : h('span', { class: 'against' }, 'against it')];
    return [h('b', {}, step.value ? 'Found' : 'Not found'), `: ${step.text}`];
}

/** A peel in words; the words are the keys. */
export function peelText({ type, key, cells, own, fingerprint }) {
    const name = h('b', {}, key);
    const places = cells.map(placeText).join(', ');
    const fingerprintText = h('code', {}, String(fingerprint));
    if (type === 'touches')
        return [name, ` touches ${places}; together they must give `, fingerprintText];
    if (type === 'takes')
        return [name, ` is the only one left at ${placeText(cells[own])}: it owns that, and goes`];
    if (type === 'leaves')
        return [name, ' goes without a place of its own'];
    return [name, ` fills ${placeText(cells[own])} with `, h('code', {}, valueText(cells[own])),
        ': its places give ', fingerprintText, ' now'];
}

/** What is told, one step after the other. */
export class Story {
    #steps = [];
    #at = 0;
    #timer = 0;
    #onStep = () => {};
    #list = h('ol', { class: 'steps' });
    #rover = rove(this.#list, 'button');
    #where = h('span', { class: 'where' });
    #play = button('Play', () => this.#toggle());
    #back = button('Back', () => this.go(this.#at - 1));
    #next = button('Next', () => this.go(this.#at + 1));
    #title = h('h2', {});

    element = h('section', { class: 'story', hidden: true }, this.#title,
        h('div', { class: 'stepper', role: 'group', 'aria-label': 'Steps' },
            this.#back, this.#play, this.#next, this.#where), this.#list);

    /** `textOf` turns a step into words; `onStep` gets all steps up to the present one. */
    tell(title, steps, textOf, onStep) {
        this.stop();
        this.#steps = steps;
        this.#onStep = onStep;
        this.#title.textContent = title;
        this.#list.replaceChildren(...steps.map((step, i) => h('li', {},
            h('button', { type: 'button', onclick: () => this.go(i) }, textOf(step)))));
        this.#rover.refresh();
        this.element.hidden = steps.length === 0;
        if (prefersStill() || steps.length < 2)
            this.go(steps.length - 1);
        else
            this.play();
    }

    clear() {
        this.tell('', [], stepText, () => {});
    }

    /** To step i, and no further by itself. */
    go(i) {
        this.stop();
        this.#show(i);
    }

    #show(i) {
        this.#at = Math.max(0, Math.min(i, this.#steps.length - 1));
        this.#back.disabled = this.#at === 0;
        this.#next.disabled = this.#at >= this.#steps.length - 1;
        this.#where.textContent = this.#steps.length
            ? `Step ${this.#at + 1} of ${this.#steps.length}` : '';
        [...this.#list.children].forEach((item, j) => {
            item.classList.toggle('later', j > this.#at);
            item.firstChild.toggleAttribute('aria-current', j === this.#at);
            if (j === this.#at)
                item.firstChild.setAttribute('aria-current', 'step');
        });
        this.#scroll(this.#list.children[this.#at]);
        this.#onStep(this.#steps.slice(0, this.#at + 1));
    }

    /** The list alone: a page that moves by itself is hard to read. */
    #scroll(item) {
        if (!item)
            return;
        const list = this.#list, top = item.offsetTop - list.offsetTop;
        if (top < list.scrollTop || top + item.offsetHeight > list.scrollTop + list.clientHeight)
            list.scrollTop = top + item.offsetHeight - list.clientHeight / 2;
    }

    play() {
        this.stop();
        this.#show(0);
        this.#play.textContent = 'Pause';
        this.#timer = setInterval(() => {
            this.#show(this.#at + 1);
            if (this.#at >= this.#steps.length - 1)
                this.stop();
        }, Math.min(STEP, LONGEST / this.#steps.length));
    }

    stop() {
        clearInterval(this.#timer);
        this.#timer = 0;
        this.#play.textContent = 'Play';
    }

    #toggle() {
        if (this.#timer)
            this.stop();
        else
            this.play();
    }
}
