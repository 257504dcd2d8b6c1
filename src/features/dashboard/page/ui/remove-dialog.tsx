import { useAction } from '../page-data.ts'
import { changeRecord } from '../session.ts'
import { Form } from './forms.tsx'
import { Dialog } from './sections.tsx'

interface RemoveDialogProps {
  title: string
  /** An explanation of the consequences. */
  text: string
  /** The record to delete, as shown on the page. */
  record: object
  remove: (options: { ifMatch: object }) => Promise<unknown>
  onClose: () => void
  onDone: () => void
}

/** Asks for confirmation before deleting something. Errors are shown in the dialog. */
export function RemoveDialog({ title, text, record, remove, onClose, onDone }: RemoveDialogProps) {
  const removeAction = useAction(async () => {
    await changeRecord(record, remove)
    onDone()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form of={removeAction} submit="Delete" kind="danger">
        <p>{text}</p>
      </Form>
    </Dialog>
  )
}
