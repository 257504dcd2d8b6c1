import { useAction } from '../data.ts'
import { changing } from '../session.ts'
import { common } from '../texts/frame.ts'
import { Form } from './forms.tsx'
import { Dialog } from './sections.tsx'

interface RemoveDialogProps {
  title: string
  /** What follows from it. */
  text: string
  /** What is deleted, as it is shown. */
  record: object
  remove: (options: { ifMatch: object }) => Promise<unknown>
  onClose: () => void
  onDone: () => void
}

/** Asks before something is deleted. An error stays in the dialog. */
export function RemoveDialog({ title, text, record, remove, onClose, onDone }: RemoveDialogProps) {
  const removing = useAction(async () => {
    await changing(record, remove)
    onDone()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form of={removing} submit={common.delete} kind="danger">
        <p>{text}</p>
      </Form>
    </Dialog>
  )
}
