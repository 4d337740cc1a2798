// A figure is saved as it is shown, in black on white, with its caption as a title.

const LINE = 11; // points of a line of the title
const PNG_SCALE = 3; // pixels for one of the figure's own

// The words in lines that are as wide as the figure; half a point for each point of the letters' size.
function titleLines(words, width) {
  const most = Math.floor(width / 4.6);
  const lines = [""];
  for (const word of words) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (longer.length > most && lines[lines.length - 1] !== "") lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function captionWords(figure) {
  const caption = figure.querySelector("figcaption").cloneNode(true);
  caption.querySelectorAll("a").forEach((link) => link.remove());
  return caption.textContent.trim().replace(/\s+\.$/, "").split(/\s+/);
}

function svgPart(tag, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

// The drawing alone, as it stands outside of a page: its size, its ink, its ground and its title are its own.
function wholeFigure(figure) {
  const svg = figure.querySelector("svg").cloneNode(true);
  const { width, height } = figure.querySelector("svg").viewBox.baseVal;
  const lines = titleLines(captionWords(figure), width);
  const above = LINE * (lines.length + 1);
  const size = { width, height: height + above };
  svg.setAttribute("viewBox", `0 ${-above} ${size.width} ${size.height}`);
  for (const [name, value] of Object.entries(size)) svg.setAttribute(name, `${value}pt`);
  svg.setAttribute("style", "color: #1b1f24; background: #ffffff");
  svg.prepend(svgPart("rect", { x: 0, y: -above, ...size, fill: "#ffffff" }));
  const title = svgPart("text", { "font-size": 9, "font-family": "system-ui, sans-serif", fill: "#1b1f24" });
  title.append(...lines.map((line, place) => svgPart("tspan", { x: 4, y: LINE * (place + 1) - above }, line)));
  svg.append(title);
  return { text: new XMLSerializer().serializeToString(svg), size };
}

async function asPng(text, { width, height }) {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.src = address;
  await image.decode();
  const canvas = element("canvas", { width: Math.round(width * PNG_SCALE), height: Math.round(height * PNG_SCALE) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

function makeSavable(figure, place) {
  const section = figure.closest("section[id]");
  const name = `${document.title} ${section === null ? "figure" : section.id} ${place + 1}`.replace(/[^\p{L}\p{N}]+/gu, "-");
  const saves = (kind, act) => button(kind, act, { "aria-label": `Save the figure as ${kind}` });
  const svg = saves("SVG", () => saveFile(new Blob([wholeFigure(figure).text], { type: "image/svg+xml" }), `${name}.svg`));
  const png = saves("PNG", async () => {
    const { text, size } = wholeFigure(figure);
    saveFile(await asPng(text, size), `${name}.png`);
  });
  figure.append(element("div", { class: "tools" }, element("span", { class: "copies" }, "Save ", svg, png)));
}
