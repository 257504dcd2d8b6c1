import { useAction } from '../data.ts'
import { texts as common } from '../texts/frame.ts'
import { Button, Dialog, Problem } from './basics.tsx'

interface RemoveDialogProps {
  title: string
  /** What follows from it. */
  text: string
  remove: () => Promise<unknown>
  onClose: () => void
  onDone: () => void
}

/** Asks before something is deleted. An error stays in the dialog. */
export function RemoveDialog({ title, text, remove, onClose, onDone }: RemoveDialogProps) {
  const { run, isBusy, error } = useAction(async () => {
    await remove()
    onDone()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <Button kind="danger" disabled={isBusy.value} onClick={run}>
        {common.common.delete}
      </Button>
    </Dialog>
  )
}
