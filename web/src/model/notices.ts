// Secrets, webhooks and badges in words. Pure.

/** Patterns of refs as people write them: between spaces, commas or lines. */
export const refsOf = (text: string): readonly string[] => [...new Set(text.split(/[\s,]+/).filter((one) => one !== ""))];

/** What jobs a webhook or a badge is about. */
export function jobsOf(name: string | null, ref: string | null): string {
  if (name === null) return ref === null ? "all jobs" : `all jobs of ${ref}`;
  return ref === null ? `jobs ${name}` : `jobs ${name} of ${ref}`;
}

/** The server of an address and what follows, without the scheme; the text itself where it is no address. */
export function shortUrl(text: string): string {
  const found = /^https?:\/\/([^?#]+)/i.exec(text);
  return found ? found[1]!.replace(/\/$/, "") : text;
}

/** What stands in brackets of Markdown, or in an attribute of HTML, must not end them. */
const forMarkdown = (text: string): string => text.replace(/[\\[\]`*_<>]/g, "\\$&");
const forHtml = (text: string): string => text.replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]!);

/** How pages show a badge: its label and its address go in. */
export const MARKUPS = [
  { name: "Markdown", of: (label: string, address: string): string => `![${forMarkdown(label)}](${address})` },
  { name: "HTML", of: (label: string, address: string): string => `<img alt="${forHtml(label)}" src="${address}">` },
] as const;

/** How a step of a pipeline gets a secret into its environment. */
export const envOf = (secret: string): string => `env: { ${secret}: { secret: ${secret} } }`;
