import { useId } from 'preact/hooks'
import type { Kind } from '../../../types/catalog.ts'
import type { ComboModel, Strategy } from '../../../types/combo.ts'
import { kinds, strategies } from '../../../types/unions.ts'
import { useAction, useLoaded, useSignal } from '../data.ts'
import { api, changing, uncheckedApi } from '../session.ts'
import * as texts from '../texts/combos.ts'
import { common } from '../texts/frame.ts'
import { Button } from '../ui/basics.tsx'
import {
  CheckField,
  CountField,
  element,
  Form,
  NumberField,
  part,
  SelectField,
  Suggestions,
  TextField,
} from '../ui/forms.tsx'
import type { ShownCombo } from './combos.tsx'

/** A model of the combo, as it is typed. */
interface Entry {
  /** Stays while the entry moves. */
  key: number
  model: string
  weight: string
  when: string
  /** What else it has, which is kept. */
  more: Omit<Exclude<ComboModel, string>, 'model' | 'weight' | 'when'>
}

/** The form of a combo. */
export function ComboForm({ combo, onSaved }: { combo?: ShownCombo; onSaved: () => void }) {
  const name = useSignal(combo?.name ?? '')
  const kind = useSignal<Kind>(combo?.kind ?? 'llm')
  const strategy = useSignal<Strategy>(combo?.strategy ?? 'fallback')
  const stickyLimit = useSignal(String(combo?.stickyLimit ?? ''))
  const maxAttempts = useSignal(String(combo?.maxAttempts ?? ''))
  const hedge = useSignal(combo?.hedge ?? false)
  const entries = useSignal<Entry[]>((combo?.models ?? ['']).map(entryOf))
  const { state: published } = useLoaded(async () =>
    (await api.value.models.published({ kinds: kind.value })).data.map(({ id }) => id),
  )
  const saving = useAction(async () => {
    const input = {
      name: name.value.trim(),
      kind: kind.value,
      strategy: strategy.value,
      models: entries.value.filter(({ model }) => model.trim() !== '').map(modelOf),
      ...optional('stickyLimit', stickyLimit.value, combo?.stickyLimit),
      ...optional('maxAttempts', maxAttempts.value, combo?.maxAttempts),
      ...((hedge.value || combo?.hedge !== undefined) && { hedge: hedge.value }),
    }
    const { combos } = uncheckedApi.value
    if (combo) await changing(combo, (options) => combos.update(combo.id, input, options), input)
    else await combos.create(input)
    onSaved()
  })
  const list = useId()
  const isWeighted = strategy.value === 'weighted' || strategy.value === 'sticky'

  return (
    <Form of={saving}>
      <div class="row">
        <TextField label={texts.formName} required of={name} />
        <SelectField label={texts.formKind} of={kind} options={kinds} />
      </div>
      <SelectField
        label={texts.formStrategy}
        hint={texts.strategies[strategy.value]}
        of={strategy}
        options={strategies}
      />
      <Suggestions id={list} of={published.value.value} />
      <Entries entries={entries} list={list} isWeighted={isWeighted} />
      <div class="row">
        {strategy.value === 'round-robin' && <CountField label={texts.formStickyLimit} of={stickyLimit} />}
        <CountField label={texts.formAttempts} of={maxAttempts} />
      </div>
      <CheckField label={texts.formHedge} of={hedge} />
    </Form>
  )
}

/** The models in their order, which is changed by dragging, or by Alt and the arrow keys. */
function Entries({ entries, list, isWeighted }: { entries: { value: Entry[] }; list: string; isWeighted: boolean }) {
  const said = useSignal('')
  const dragged = useSignal<number | undefined>(undefined)
  function move(from: number, to: number) {
    if (to < 0 || to >= entries.value.length || from === to) return
    const moved = [...entries.value]
    const [entry] = moved.splice(from, 1)
    if (!entry) return
    moved.splice(to, 0, entry)
    entries.value = moved
    said.value = texts.formMoved(entry.model, to + 1, moved.length)
  }
  return (
    <fieldset>
      <legend>{texts.formModels}</legend>
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
              aria-label={texts.formMove(entry.model)}
              onDragStart={() => (dragged.value = at)}
              onKeyDown={(event) => {
                if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
                event.preventDefault()
                move(at, at + (event.key === 'ArrowUp' ? -1 : 1))
              }}
            >
              ≡
            </button>
            <TextField label={texts.formModel} list={list} of={part(element(entries, entry), 'model')} />
            {isWeighted && <NumberField label={texts.formWeight} of={part(element(entries, entry), 'weight')} />}
            <TextField
              label={texts.formWhen}
              error={isCondition(entry.when) ? undefined : texts.formWhenWrong}
              of={part(element(entries, entry), 'when')}
            />
            <Button
              kind="quiet"
              label={common.remove(entry.model)}
              onClick={() => (entries.value = entries.value.filter(({ key }) => key !== entry.key))}
            >
              ✕
            </Button>
          </li>
        ))}
      </ol>
      <p class="hint">{texts.formWhenHint}</p>
      <Button onClick={() => (entries.value = [...entries.value, entryOf('')])}>{texts.formAdd}</Button>
      <p class="unseen" aria-live="polite">
        {said.value}
      </p>
    </fieldset>
  )
}

let lastKey = 0

function entryOf(entry: ComboModel): Entry {
  const { model, weight, when, ...more } = typeof entry === 'string' ? { model: entry } : entry
  return {
    key: ++lastKey,
    model,
    weight: weight === undefined ? '' : String(weight),
    when: when ? JSON.stringify(when) : '',
    more,
  }
}

/** What is no JSON is sent as text, which the gateway refuses with what it wants. */
function modelOf({ model, weight, when, more }: Entry) {
  const name = model.trim()
  if (weight.trim() === '' && when.trim() === '' && Object.keys(more).length === 0) return name
  return {
    model: name,
    ...more,
    ...(weight.trim() !== '' && { weight: Number(weight) }),
    ...(when.trim() !== '' && { when: parsed(when) }),
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
