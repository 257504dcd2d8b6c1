import { useAction, useChange, useSignal } from '../data.ts'
import { api, changing, gatewayUrl } from '../session.ts'
import { snippets } from '../snippets.ts'
import { common } from '../texts/frame.ts'
import * as texts from '../texts/keys.ts'
import { Button, Problem } from '../ui/basics.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Form, SelectField, TextField } from '../ui/forms.tsx'
import { Dialog } from '../ui/sections.tsx'
import type { PlainKey } from './keys.tsx'

/** Shows the value of a new key, once, and how clients use it. */
export function MadeDialog({ name, value, onClose }: { name: string; value: string; onClose: () => void }) {
  const which = useSignal(snippets[0]?.name ?? '')
  const snippet = snippets
    .find((one) => one.name === which.value)
    ?.code({ url: gatewayUrl, key: value }, texts.madeModel)
  return (
    <Dialog title={texts.madeTitle(name)} onClose={onClose}>
      <p class="notice">{texts.madeOnce}</p>
      <div class="row">
        <pre class="grow">{value}</pre>
        <CopyButton text={value} />
      </div>
      <h3>{texts.madeUse}</h3>
      <div class="actions" role="tablist">
        {snippets.map(({ name: one }) => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={one === which.value}
            onClick={() => (which.value = one)}
          >
            {one}
          </button>
        ))}
      </div>
      <pre>{snippet}</pre>
      <CopyButton text={snippet ?? ''} />
    </Dialog>
  )
}

interface RotateDialogProps {
  apiKey: PlainKey
  onClose: () => void
  onMade: (name: string, value: string) => void
}

export function RotateDialog({ apiKey, onClose, onMade }: RotateDialogProps) {
  const grace = useSignal<string>('0')
  const rotating = useAction(async () => {
    const { key } = await api.value.keys.rotate(apiKey.id, { graceMs: Number(grace.value) })
    onMade(apiKey.name, key)
  })
  return (
    <Dialog title={texts.rotatedTitle(apiKey.name)} onClose={onClose}>
      <p>{texts.rotatedText}</p>
      <Form of={rotating} submit={texts.rotatedButton}>
        <SelectField label={texts.rotatedGrace} of={grace} options={texts.rotatedGraces} />
      </Form>
    </Dialog>
  )
}

interface RemoveKeyDialogProps {
  apiKey: PlainKey
  onClose: () => void
  onDone: () => void
}

/** Deletes a key. One that was used today has to be named, and to pause it is offered first. */
export function RemoveKeyDialog({ apiKey, onClose, onDone }: RemoveKeyDialogProps) {
  const { id, name } = apiKey
  const typed = useSignal('')
  const isUsed = useSignal(false)
  const { run, isBusy, error } = useChange(onDone)
  const remove = () =>
    run(async () => {
      if (!isUsed.value && (await wasUsedToday(id))) {
        isUsed.value = true
        throw new Error(texts.removeUsed(name))
      }
      await changing(apiKey, (options) => api.value.keys.delete(id, options))
    })

  return (
    <Dialog title={texts.removeTitle(name)} onClose={onClose}>
      <p>{texts.removeText}</p>
      <Problem>{error.value}</Problem>
      {isUsed.value && <TextField label={texts.columnName} of={typed} />}
      <div class="actions">
        {apiKey.isActive !== false && (
          <Button disabled={isBusy.value} onClick={() => run(() => api.value.keys.update(id, { isActive: false }))}>
            {texts.removePauseInstead}
          </Button>
        )}
        <Button kind="danger" disabled={isBusy.value || (isUsed.value && typed.value !== name)} onClick={remove}>
          {common.delete}
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
