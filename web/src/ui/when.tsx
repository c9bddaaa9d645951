// How long ago something was, with the exact time for those who want it.
import { ago } from "./time.ts";

export const Ago = ({ iso }: { iso: string | null | undefined }) => (iso ? <time dateTime={iso} title={new Date(iso).toLocaleString()}>{ago(iso)}</time> : <span>never</span>);
