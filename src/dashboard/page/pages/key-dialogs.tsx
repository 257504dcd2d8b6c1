import { useAction, useSignal } from '../data.ts'
import { api, modelsUrl } from '../session.ts'
import { snippets } from '../snippets.ts'
import { texts as common } from '../texts/frame.ts'
import { texts } from '../texts/keys.ts'
import { Button, CopyButton, Dialog, Problem, SelectField, TextField } from '../ui/basics.tsx'
import type { PlainKey } from './keys.tsx'

/** Shows the value of a new key, once, and how clients use it. */
export function MadeDialog({ name, value, onClose }: { name: string; value: string; onClose: () => void }) {
  const which = useSignal(snippets[0]?.name ?? '')
  const snippet =
    snippets.find((one) => one.name === which.value)?.code({ url: modelsUrl, key: value, model: texts.made.model }) ??
    ''
  return (
    <Dialog title={texts.made.title(name)} onClose={onClose}>
      <p class="notice">{texts.made.once}</p>
      <div class="row">
        <pre class="grow">{value}</pre>
        <CopyButton text={value} />
      </div>
      <h3>{texts.made.use}</h3>
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
      <CopyButton text={snippet} />
    </Dialog>
  )
}

interface RotateDialogProps {
  apiKey: PlainKey
  onClose: () => void
  onMade: (name: string, value: string) => void
}

export function RotateDialog({ apiKey, onClose, onMade }: RotateDialogProps) {
  const grace = useSignal('0')
  const { run, isBusy, error } = useAction(async () => {
    const { key } = await api.value.keys.rotate(apiKey.id, { graceMs: Number(grace.value) })
    onMade(apiKey.name, key)
  })
  return (
    <Dialog title={texts.rotated.title(apiKey.name)} onClose={onClose}>
      <p>{texts.rotated.text}</p>
      <SelectField
        label={texts.rotated.grace}
        value={grace.value}
        options={texts.rotated.graces}
        onChange={(value) => (grace.value = value)}
      />
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <Button kind="primary" disabled={isBusy.value} onClick={run}>
        {texts.rotated.button}
      </Button>
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
  const { run, isBusy, error } = useAction(async (act: () => Promise<unknown>) => {
    await act()
    onDone()
  })
  const remove = () =>
    run(async () => {
      if (!isUsed.value && (await wasUsedToday(id))) {
        isUsed.value = true
        throw new Error(texts.remove.used(name))
      }
      await api.value.keys.delete(id)
    })

  return (
    <Dialog title={texts.remove.title(name)} onClose={onClose}>
      <p>{texts.remove.text}</p>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      {isUsed.value && (
        <TextField label={texts.columns.name} value={typed.value} onInput={(value) => (typed.value = value)} />
      )}
      <div class="actions">
        {apiKey.isActive !== false && (
          <Button disabled={isBusy.value} onClick={() => run(() => api.value.keys.update(id, { isActive: false }))}>
            {texts.remove.pauseInstead}
          </Button>
        )}
        <Button kind="danger" disabled={isBusy.value || (isUsed.value && typed.value !== name)} onClick={remove}>
          {common.common.delete}
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
