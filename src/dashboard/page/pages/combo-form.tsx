import { useId } from 'preact/hooks'
import type { ComboModel, Condition, Strategy } from '../../../types/combo.ts'
import { kinds } from '../../../types/unions.ts'
import { useAction, useLoaded, useSignal } from '../data.ts'
import { api, changing } from '../session.ts'
import { texts } from '../texts/combos.ts'
import { texts as common } from '../texts/frame.ts'
import { Button, NumberField, Problem, SelectField, TextField } from '../ui/basics.tsx'
import type { ShownCombo } from './combos.tsx'

/** A model of the combo, as it is typed. */
interface Entry {
  /** Stays while the entry moves. */
  key: number
  model: string
  weight: string
  when: string
}

/** The form of a combo. */
export function ComboForm({ combo, onSaved }: { combo?: ShownCombo; onSaved: () => void }) {
  const name = useSignal(combo?.name ?? '')
  const kind = useSignal<string>(combo?.kind ?? 'llm')
  const strategy = useSignal<Strategy>(combo?.strategy ?? 'fallback')
  const stickyLimit = useSignal(String(combo?.stickyLimit ?? ''))
  const maxAttempts = useSignal(String(combo?.maxAttempts ?? ''))
  const hedge = useSignal(combo?.hedge ?? false)
  const entries = useSignal<Entry[]>((combo?.models ?? ['']).map(entryOf))
  const { state: published } = useLoaded(async () => (await api.value.models.published()).data.map(({ id }) => id))
  const { run, isBusy, error } = useAction(async () => {
    const input = {
      name: name.value.trim(),
      kind: kind.value,
      strategy: strategy.value,
      models: entries.value.filter(({ model }) => model.trim() !== '').map(modelOf),
      ...optional('stickyLimit', stickyLimit.value, combo?.stickyLimit),
      ...optional('maxAttempts', maxAttempts.value, combo?.maxAttempts),
      ...((hedge.value || combo?.hedge !== undefined) && { hedge: hedge.value }),
    }
    if (combo)
      await changing(
        combo,
        (client) => client.combos.update(combo.id, input as never),
        () => api.value.combos.get(combo.id),
      )
    else await api.value.combos.create(input as never)
    onSaved()
  })
  const list = useId()
  const isWeighted = strategy.value === 'weighted' || strategy.value === 'sticky'

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <div class="row">
        <TextField label={texts.form.name} required value={name.value} onInput={(value) => (name.value = value)} />
        <SelectField
          label={texts.form.kind}
          value={kind.value}
          options={kinds.map((one) => [one, one] as const)}
          onChange={(value) => (kind.value = value)}
        />
      </div>
      <SelectField
        label={texts.form.strategy}
        hint={texts.strategies[strategy.value]}
        value={strategy.value}
        options={strategyNames.map((one) => [one, one] as const)}
        onChange={(value) => (strategy.value = strategyNames.find((one) => one === value) ?? 'fallback')}
      />
      <datalist id={list}>
        {published.value.value?.map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <Entries entries={entries} list={list} isWeighted={isWeighted} />
      <div class="row">
        {strategy.value === 'round-robin' && (
          <NumberField
            label={texts.form.stickyLimit}
            min={1}
            step={1}
            value={stickyLimit.value}
            onInput={(value) => (stickyLimit.value = value)}
          />
        )}
        <NumberField
          label={texts.form.attempts}
          min={1}
          step={1}
          value={maxAttempts.value}
          onInput={(value) => (maxAttempts.value = value)}
        />
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={hedge.value}
          onChange={({ currentTarget }) => (hedge.value = currentTarget.checked)}
        />
        {texts.form.hedge}
      </label>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <Button kind="primary" type="submit" disabled={isBusy.value}>
        {common.common.save}
      </Button>
    </form>
  )
}

const strategyNames = Object.keys(texts.strategies) as Strategy[] // the table has all of them, and no other

/** The models in their order, which is changed by dragging, or by Alt and the arrow keys. */
function Entries({ entries, list, isWeighted }: { entries: { value: Entry[] }; list: string; isWeighted: boolean }) {
  const said = useSignal('')
  const dragged = useSignal<number | undefined>(undefined)
  const change = (key: number, part: Partial<Entry>) => {
    entries.value = entries.value.map((one) => (one.key === key ? { ...one, ...part } : one))
  }
  function move(from: number, to: number) {
    if (to < 0 || to >= entries.value.length || from === to) return
    const moved = [...entries.value]
    const [entry] = moved.splice(from, 1)
    if (!entry) return
    moved.splice(to, 0, entry)
    entries.value = moved
    said.value = texts.form.moved(entry.model, to + 1, moved.length)
  }
  return (
    <fieldset>
      <legend>{texts.form.models}</legend>
      <ol class="entries">
        {entries.value.map((entry, at) => (
          <li
            key={entry.key}
            class="row"
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault()
              if (dragged.value !== undefined) move(dragged.value, at)
            }}
          >
            <button
              type="button"
              class="quiet handle"
              draggable
              aria-label={texts.form.move(entry.model)}
              onDragStart={() => (dragged.value = at)}
              onKeyDown={(event) => {
                if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
                event.preventDefault()
                move(at, at + (event.key === 'ArrowUp' ? -1 : 1))
              }}
            >
              ≡
            </button>
            <TextField
              label={texts.form.model}
              list={list}
              value={entry.model}
              onInput={(model) => change(entry.key, { model })}
            />
            {isWeighted && (
              <NumberField
                label={texts.form.weight}
                value={entry.weight}
                onInput={(weight) => change(entry.key, { weight })}
              />
            )}
            <TextField
              label={texts.form.when}
              error={isCondition(entry.when) ? undefined : texts.form.whenWrong}
              value={entry.when}
              onInput={(when) => change(entry.key, { when })}
            />
            <Button
              kind="quiet"
              label={common.common.remove(entry.model)}
              onClick={() => (entries.value = entries.value.filter(({ key }) => key !== entry.key))}
            >
              ✕
            </Button>
          </li>
        ))}
      </ol>
      <p class="hint">{texts.form.whenHint}</p>
      <Button onClick={() => (entries.value = [...entries.value, entryOf('')])}>{texts.form.add}</Button>
      <p class="unseen" aria-live="polite">
        {said.value}
      </p>
    </fieldset>
  )
}

let lastKey = 0

function entryOf(entry: ComboModel): Entry {
  const { model, weight, when } =
    typeof entry === 'string' ? { model: entry, weight: undefined, when: undefined } : entry
  return {
    key: ++lastKey,
    model,
    weight: weight === undefined ? '' : String(weight),
    when: when ? JSON.stringify(when) : '',
  }
}

/** What is no JSON is sent as text, which the gateway refuses with what it wants. */
function modelOf({ model, weight, when }: Entry): ComboModel {
  const name = model.trim()
  if (weight.trim() === '' && when.trim() === '') return name
  return {
    model: name,
    ...(weight.trim() !== '' && { weight: Number(weight) }),
    ...(when.trim() !== '' && { when: parsed(when) as Condition }), // the gateway checks it
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const isCondition = (text: string) => {
  const value = text.trim() === '' ? {} : parsed(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A number that may be missing; `null` removes one that is there. */
const optional = (name: string, typed: string, stored: number | undefined) =>
  typed.trim() !== '' ? { [name]: Number(typed) } : stored === undefined ? {} : { [name]: null }
