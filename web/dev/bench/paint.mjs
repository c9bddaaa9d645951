// The first paint of the devices page, with nothing kept by the browser, and again; served by hostd itself.
const paint = () => performance.getEntriesByType("paint").find(({ name }) => name === "first-contentful-paint")?.startTime;

export async function paints({ open, url, repeat }) {
  const [cold, warm, list] = [[], [], []];
  for (let i = 0; i < repeat + 2; i++) {
    const page = await open("about:blank");
    for (const into of [cold, warm]) {
      await page.goto(`${url}/devices`);
      await page.getByRole("link", { name: "demo" }).first().waitFor();
      list.push(await page.evaluate(() => performance.now()));
      into.push(await page.evaluate(paint));
    }
    await page.context().close();
  }
  return [
    { name: "first paint, cold", values: cold, unit: "ms", most: 300, note: `the list after ${list.filter((_, i) => i % 2 === 0).sort((a, b) => a - b)[repeat >> 1].toFixed(0)} at most` },
    { name: "first paint, warm", values: warm, unit: "ms", most: 150, note: "" },
  ];
}
