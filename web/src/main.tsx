// The application: the page that belongs to the address, in its frame.
import { render } from "preact";
import { followEvents } from "./api/events.ts";
import SignInPage from "./pages/sign-in.tsx";
import { match, navigate, path } from "./router.ts";
import { Frame } from "./shell/frame.tsx";
import { HOME, ROUTES } from "./shell/routes.tsx";
import { Head } from "./ui/head.tsx";

function App() {
  const here = path.value;
  if (here === "/") {
    navigate(HOME, "replace");
    return null;
  }
  if (here === "/sign-in") return <SignInPage />;
  for (const { pattern, page } of ROUTES) {
    const given = match(pattern, here);
    if (given) return <Frame>{page(given)}</Frame>;
  }
  return <Frame><Missing path={here} /></Frame>;
}

const Missing = ({ path: at }: { path: string }) => (
  <main class="page">
    <Head title="Page not found" />
    <p>There is no page at <code>{at}</code>. <a href={HOME}>Go to the devices</a>, or see <a href="/api/docs">all endpoints of the API</a>.</p>
  </main>
);

const root = document.getElementById("app")!;
root.replaceChildren();
followEvents();
render(<App />, root);
