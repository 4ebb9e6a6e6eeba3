/* Runs in the page. The faults of its layout as sentences: what leaves the screen, is cut, glued, broken or overlapped. */
(() => {
  /** px of rounding. */
  const SLACK = 1;
  /** px between two texts that a reader takes for one. */
  const GLUED = 2;
  /** Letters of a word that has room in every column. */
  const SHORT_WORD = 16;
  const CRON = /^[\d*?][^ ]*( [^ ]+){4,5}$/;
  /** What the check leaves out: drawings with their own rules, and what only screen readers see. */
  const EXCEPT = '.visually-hidden, .skip, svg, option, .timeline, dialog:not([open])';
  const root = document.querySelector('dialog[open]') ?? document.body;
  // A page that is scrolled has texts under its sticky head.
  scrollTo({ top: 0, behavior: 'instant' });
  const { scrollWidth, clientWidth } = document.documentElement;

  const found = new Set();
  const short = (text) => text.replace(/\s+/g, ' ').trim().slice(0, 60);
  const nameOf = (element) => `${element.localName}${[...element.classList].map((each) => `.${each}`).join('')}`;
  const placeOf = (element) => `${nameOf(element.parentElement)} > ${nameOf(element)}`;
  const styles = new Map();
  const styleOf = (element) => {
    if (!styles.has(element)) styles.set(element, getComputedStyle(element));
    return styles.get(element);
  };
  /** Asks each element once, because a list may have thousands: what holds for one holds for all within it. */
  const inherited = (test) => {
    const known = new Map([[document.documentElement, undefined]]);
    const ask = (element) => {
      if (!known.has(element)) known.set(element, ask(element.parentElement) ?? (test(element) ? element : undefined));
      return known.get(element);
    };
    return ask;
  };
  const hiddenBy = inherited((element) => element.matches(EXCEPT) || styleOf(element).clipPath !== 'none');
  const clippedBy = inherited((element) => /hidden|clip/.test(styleOf(element).overflowX));
  const isShown = (element) => !hiddenBy(element) && element.checkVisibility({ visibilityProperty: true });
  const elements = [...root.querySelectorAll('*')].filter(isShown);
  const rangeOf = (node, begin, end) => {
    const range = document.createRange();
    range.setStart(node, begin);
    range.setEnd(node, end);
    return range;
  };
  const linesOf = (range) => new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;

  if (scrollWidth > clientWidth) found.add(`the page is ${scrollWidth} px wide on a screen of ${clientWidth}`);
  /** What leaves an element that hides it is no fault here: see what is cut. */
  const isOff = (element) => {
    const { left, right, width } = element.getBoundingClientRect();
    if (width === 0 || clippedBy(element.parentElement)) return false;
    return right > clientWidth + SLACK || left < -SLACK;
  };
  for (const element of elements) {
    const { left, right } = element.getBoundingClientRect();
    if (isOff(element) && !isOff(element.parentElement))
      found.add(`off the screen, ${Math.round(left)} to ${Math.round(right)}: ${placeOf(element)}`);
  }
  for (const element of elements) {
    if (element.matches('input, select, progress')) continue;
    const { overflowX, overflowY } = styleOf(element);
    const isWide = element.scrollWidth > element.clientWidth + SLACK && element.clientWidth > 0;
    const isHigh = element.scrollHeight > element.clientHeight + 3 && element.clientHeight > 0;
    if (isWide && /auto|scroll/.test(overflowX))
      found.add(`scrolls sideways, ${element.scrollWidth} in ${element.clientWidth} px: ${placeOf(element)}`);
    const isCut = (isWide && /hidden|clip/.test(overflowX)) || (isHigh && /hidden|clip/.test(overflowY));
    if (!isCut) continue;
    if (element.closest('[title]') === null && element.querySelector('[title]') === null)
      found.add(`cut, and no title has the whole: ${placeOf(element)} “${short(element.textContent)}”`);
    for (const code of element.querySelectorAll('code')) {
      const isWhole = code.getBoundingClientRect().right <= element.getBoundingClientRect().right + SLACK;
      if (!isWhole && CRON.test(code.textContent)) found.add(`a cut expression: “${short(code.textContent)}”`);
    }
  }

  // Rows are cards then, and heads above them would read as one line of text.
  for (const head of root.querySelectorAll('thead th')) {
    const row = head.closest('table').querySelector('tbody tr');
    if (row && styleOf(row).display !== 'table-row' && isShown(head) && head.textContent.trim() !== '')
      found.add(`a head above stacked rows: “${short(head.textContent)}”`);
  }

  // Else the values of two cards begin at different places. The rows of owners are one line each.
  for (const row of root.querySelectorAll('.plain tbody tr')) {
    if (styleOf(row).display === 'table-row' || row.closest('.owners')) continue;
    const [first, second] = [...row.querySelectorAll('td')].filter((cell) => isShown(cell));
    if (second && second.getBoundingClientRect().top < first.getBoundingClientRect().bottom - 1)
      found.add(`the head of a card shares its line: “${short(first.textContent)}”`);
  }

  const texts = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const begin = node.data.search(/\S/);
    if (begin < 0 || !isShown(node.parentElement)) continue;
    // Lines after the last one that an excerpt shows have a place, too.
    const clip = clippedBy(node.parentElement)?.getBoundingClientRect();
    const rects = [...rangeOf(node, begin, node.data.trimEnd().length).getClientRects()].filter(
      ({ width, top, bottom }) =>
        width > 0 && (!clip || ((top + bottom) / 2 < clip.bottom && (top + bottom) / 2 > clip.top)),
    );
    if (rects.length > 0) texts.push({ node, text: node.data.trim(), first: rects[0], last: rects.at(-1) });
  }
  const isWord = (character) => /[\p{L}\p{N}]/u.test(character);
  for (const [index, one] of texts.entries()) {
    const other = texts[index + 1];
    // The marks of an axis stand where their times are.
    if (!other || one.node.parentElement.closest('.lanes, .due-axis')) continue;
    const both = Math.min(one.last.bottom, other.first.bottom) - Math.max(one.last.top, other.first.top);
    if (both < Math.min(one.last.height, other.first.height) / 2) continue;
    const gap = other.first.left - one.last.right;
    const pair = `“${short(one.text.slice(-30))}” and “${short(other.text)}” in ${placeOf(other.node.parentElement)}`;
    if (Math.abs(gap) < GLUED && isWord(one.text.at(-1)) && isWord(other.text[0])) found.add(`glued: ${pair}`);
    if (gap > 3 && gap < 60 && /^(,|;|\)|[.:](\s|$))/.test(other.text)) found.add(`a space before a comma: ${pair}`);
    if (gap <= -GLUED && other.first.right > one.last.left + GLUED) found.add(`overlapped: ${pair}`);
  }
  for (const { node, text } of texts) {
    if (text.includes(String.raw`\n`)) found.add(`a literal line break: “${short(text)}”`);
    for (const { 0: word, index } of node.data.matchAll(/(?<!\S)\p{L}+(?!\S)/gu)) {
      if (word.length <= SHORT_WORD && linesOf(rangeOf(node, index, index + word.length)) > 1)
        found.add(`broken within a word: “${word}” in ${placeOf(node.parentElement)}`);
    }
  }
  for (const code of elements.filter(({ localName }) => localName === 'code')) {
    if (!CRON.test(code.textContent)) continue;
    const fields = [...code.childNodes]
      .map((node) => (node.nodeType === Node.TEXT_NODE ? node : node.firstChild))
      .flatMap((node) =>
        [...node.data.matchAll(/\S+/g)].map((field) => [node, field.index, field.index + field[0].length]),
      );
    if (fields.some((field) => linesOf(rangeOf(...field)) > 1))
      found.add(`broken within a field: “${short(code.textContent)}”`);
  }
  for (const element of elements)
    for (const name of ['title', 'aria-label'])
      if (element.getAttribute(name)?.includes(String.raw`\n`))
        found.add(`a literal line break in the ${name} of ${placeOf(element)}`);
  for (const [comma] of root.innerText.matchAll(/.{0,30}\S[ \n]+[,;](?=\s).{0,10}/g))
    found.add(`a space before a comma: “${short(comma)}”`);
  return [...found];
})();
