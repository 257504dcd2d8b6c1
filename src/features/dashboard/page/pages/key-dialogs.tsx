import { useAction, useChange, useSignal } from '../page-data.ts'
import { api, changeRecord, gatewayUrl } from '../session.ts'
import { snippets } from '../snippets.ts'
import { Button, Problem } from '../ui/basics.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Form, SelectField, TextField } from '../ui/forms.tsx'
import { Dialog } from '../ui/sections.tsx'
import type { PlainKey } from './keys.tsx'

/** Shows a new key's value once, with code examples. */
export function NewKeyDialog({ name, value, onClose }: { name: string; value: string; onClose: () => void }) {
  const selectedSnippet = useSignal(snippets[0]?.name ?? '')
  const snippet = snippets
    .find((snippet) => snippet.name === selectedSnippet.value)
    ?.code({ url: gatewayUrl, key: value }, 'your-model')
  return (
    <Dialog title={`Key "${name}"`} onClose={onClose}>
      <p class="notice">Copy this key now. You won’t be able to see it again.</p>
      <div class="row">
        <pre class="grow">{value}</pre>
        <CopyButton text={value} />
      </div>
      <h3>Use this key</h3>
      <div class="actions" role="tablist">
        {snippets.map(({ name: snippetName }) => (
          <button
            key={snippetName}
            type="button"
            role="tab"
            aria-selected={snippetName === selectedSnippet.value}
            onClick={() => (selectedSnippet.value = snippetName)}
          >
            {snippetName}
          </button>
        ))}
      </div>
      <pre>{snippet}</pre>
      <CopyButton text={snippet ?? ''} />
    </Dialog>
  )
}

const graceOptions = [
  ['0', 'Immediately'],
  ['3600000', 'In 1 hour'],
  ['86400000', 'In 1 day'],
  ['604800000', 'In 7 days'],
] as const

interface RotateDialogProps {
  apiKey: PlainKey
  onClose: () => void
  onCreated: (name: string, value: string) => void
}

export function RotateDialog({ apiKey, onClose, onCreated }: RotateDialogProps) {
  const grace = useSignal<string>('0')
  const rotateAction = useAction(async () => {
    const { key } = await api.value.keys.rotate(apiKey.id, { graceMs: Number(grace.value) })
    onCreated(apiKey.name, key)
  })
  return (
    <Dialog title={`Rotate key "${apiKey.name}"`} onClose={onClose}>
      <p>This generates a new value. The key’s ID, limits, and usage stay the same.</p>
      <Form of={rotateAction} submit="Rotate key">
        <SelectField label="Old value stops working" of={grace} options={graceOptions} />
      </Form>
    </Dialog>
  )
}

interface RemoveKeyDialogProps {
  apiKey: PlainKey
  onClose: () => void
  onDone: () => void
}

/** Deletes a key after confirmation. Offers to pause it instead. If it was used today, the user must type its name. */
export function RemoveKeyDialog({ apiKey, onClose, onDone }: RemoveKeyDialogProps) {
  const { id, name } = apiKey
  const typedName = useSignal('')
  const wasUsed = useSignal(false)
  const { run, isBusy, error } = useChange(onDone)
  const remove = () =>
    run(async () => {
      if (!wasUsed.value && (await wasUsedToday(id))) {
        wasUsed.value = true
        throw new Error(`This key was used today. To confirm, enter its name: ${name}`)
      }
      await changeRecord(apiKey, (options) => api.value.keys.delete(id, options))
    })

  return (
    <Dialog title={`Delete key "${name}"?`} onClose={onClose}>
      <p>Requests with this key will fail immediately. You can’t undo this, but you can pause the key instead.</p>
      <Problem>{error.value}</Problem>
      {wasUsed.value && <TextField label="Name" of={typedName} />}
      <div class="actions">
        {apiKey.isActive !== false && (
          <Button disabled={isBusy.value} onClick={() => run(() => api.value.keys.update(id, { isActive: false }))}>
            Pause instead
          </Button>
        )}
        <Button kind="danger" disabled={isBusy.value || (wasUsed.value && typedName.value !== name)} onClick={remove}>
          Delete
        </Button>
      </div>
    </Dialog>
  )
}

async function wasUsedToday(keyId: string): Promise<boolean> {
  const from = new Date()
  from.setHours(0, 0, 0, 0)
  const { totals } = await api.value.usage.summary({ from: from.toISOString(), keyId })
  return totals.requests > 0
}
