// How far something is. Without a share it only says that it goes on.
export const Progress = ({ label, share }: { label: string; share: number | undefined }) => (
  <div class="progress">
    <progress aria-label={label} max={1} value={share} />
    <span class="small number">{share === undefined ? "" : `${Math.floor(share * 100)} %`}</span>
  </div>
);
