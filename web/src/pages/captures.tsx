// The captures of all devices.
import { Head } from "../ui/head.tsx";
import { CaptureList } from "./capture-list.tsx";

export default function CapturesPage() {
  return (
    <main class="page">
      <Head title="Captures" />
      <CaptureList />
    </main>
  );
}
