// oxlint-disable-next-line no-control-regex -- they are what is looked for
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** `text` with control characters made visible: what is stored in a table must not move the cursor of whoever reads it. */
export function visible(text: string): string {
  return text.replace(control, (character) => {
    if (character === "\n") return "⏎";
    if (character === "\t") return " ";
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
