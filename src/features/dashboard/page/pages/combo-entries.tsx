import type { ComboModel } from '../../../../types/combo.ts'
import { useSignal } from '../page-data.ts'
import { Button } from '../ui/basics.tsx'
import { bindElement, bindField, NumberField, SelectField, TextField, toLabel, toNumbers } from '../ui/forms.tsx'
import { type CachingChoice, CachingField, fromCachingChoice, toCachingChoice } from './caching-field.tsx'
import { ConditionFields, isCondition, parseJson } from './condition-fields.tsx'

const paramNames = [
  'maxTokens',
  'temperature',
  'topP',
  'topK',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'reasoning',
] as const
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** A combo entry as form state. */
export interface Entry {
  /** Identifies the entry, even after it is moved. */
  key: number
  model: string
  weight: string
  when: string
  params: Params
  promptCaching: CachingChoice
  /** Fields that the form neither shows nor changes. */
  otherFields: Omit<Exclude<ComboModel, string>, 'model' | 'weight' | 'when' | 'params' | 'promptCaching'>
}

/** An entry's parameters as form state. */
type Params = Record<(typeof paramNames)[number], string>

interface EntriesProps {
  entries: { value: Entry[] }
  /** The ID of the element with the model suggestions. */
  listId: string
  isWeighted: boolean
  isChat: boolean
}

/** Returns the entries that have a model. */
export const filterNamed = (entries: readonly Entry[]) => entries.filter(({ model }) => model.trim() !== '')

/** Renders a sortable list of models. Users can move them by dragging or with Alt and an arrow key. */
export function Entries({ entries, listId, isWeighted, isChat }: EntriesProps) {
  const message = useSignal('')
  const draggedIndex = useSignal<number | undefined>(undefined)
  function moveEntry(from: number, to: number) {
    if (to < 0 || to >= entries.value.length || from === to) return
    const reorderedEntries = [...entries.value]
    const [entry] = reorderedEntries.splice(from, 1)
    if (!entry) return
    reorderedEntries.splice(to, 0, entry)
    entries.value = reorderedEntries
    message.value = `${entry.model} moved to position ${to + 1} of ${reorderedEntries.length}.`
  }
  return (
    <fieldset>
      <legend>Models</legend>
      <ol class="bare">
        {entries.value.map((entry, index) => {
          const path = `models[${filterNamed(entries.value).indexOf(entry)}]`
          const field = bindElement(entries, entry)
          return (
            <li
              key={entry.key}
              class="row"
              onDragOver={(event) => event.preventDefault()}
              onDrop={(event) => {
                event.preventDefault()
                if (draggedIndex.value !== undefined) moveEntry(draggedIndex.value, index)
              }}
            >
              <button
                type="button"
                class="quiet handle"
                draggable
                aria-label={`Move ${entry.model}: drag, or press Alt+Up or Alt+Down`}
                onDragStart={() => (draggedIndex.value = index)}
                onKeyDown={(event) => {
                  if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
                  event.preventDefault()
                  moveEntry(index, index + (event.key === 'ArrowUp' ? -1 : 1))
                }}
              >
                ≡
              </button>
              <TextField label="Model" path={path} list={listId} of={bindField(field, 'model')} />
              {isWeighted && <NumberField label="Weight" path={`${path}.weight`} of={bindField(field, 'weight')} />}
              <TextField
                label="Condition (JSON)"
                path={`${path}.when`}
                error={isCondition(entry.when) ? undefined : 'Enter a JSON object.'}
                of={bindField(field, 'when')}
              />
              <Button
                kind="quiet"
                label={`Remove ${entry.model}`}
                onClick={() => (entries.value = entries.value.filter(({ key }) => key !== entry.key))}
              >
                ✕
              </Button>
              <ConditionFields of={bindField(field, 'when')} />
              {(isChat || hasText(entry.params)) && <EntryParams entry={entry} field={field} path={path} />}
            </li>
          )
        })}
      </ol>
      <p class="hint">
        {'Examples of conditions: {"tools": true} or {"bytes": {"max": 8000}}. Leave empty to always use the model.'}
      </p>
      <Button onClick={() => (entries.value = [...entries.value, toEntryState('')])}>Add model</Button>
      <p class="unseen" aria-live="polite">
        {message.value}
      </p>
    </fieldset>
  )
}

interface EntryParamsProps {
  entry: Entry
  field: { value: Entry }
  path: string
}

function EntryParams({ entry, field, path }: EntryParamsProps) {
  return (
    <details class="params" open={hasText(entry.params) || entry.promptCaching !== '' || undefined}>
      <summary>Parameters</summary>
      <div class="row">
        {paramNames.map((name) => {
          const boundParam = bindField(bindField(field, 'params'), name)
          const options = { key: name, label: toLabel(name), path: `${path}.params.${name}`, of: boundParam }
          if (name === 'stopSequences')
            return <TextField {...options} hint={'A single sequence, or a JSON array such as ["END", "\\n\\n"].'} />
          if (name !== 'reasoning') return <NumberField {...options} min={undefined} />
          return <SelectField {...options} label="Reasoning effort" options={[['', 'Client’s value'], ...efforts]} />
        })}
      </div>
      <CachingField
        of={bindField(field, 'promptCaching')}
        inherited="As the connection says"
        path={`${path}.promptCaching`}
      />
      <p class="hint">These override the client’s values. Leave a field empty to use the client’s value.</p>
    </details>
  )
}

let lastKey = 0

/** Converts an entry to form state. */
export function toEntryState(entry: ComboModel): Entry {
  const { model, weight, when, params, promptCaching, ...otherFields } =
    typeof entry === 'string' ? { model: entry } : entry
  return {
    key: ++lastKey,
    model,
    weight: weight === undefined ? '' : String(weight),
    when: when ? JSON.stringify(when) : '',
    params: toTexts(paramNames, params) as Params, // `toTexts` returns exactly these names
    promptCaching: toCachingChoice(promptCaching),
    otherFields,
  }
}

/** Converts form state to an entry. Sends invalid JSON as a string, so the gateway's error explains what to enter. */
export function toComboModel({ model, weight, when, params, promptCaching, otherFields }: Entry) {
  const name = model.trim()
  const isNameOnly = weight.trim() === '' && when.trim() === '' && !hasText(params) && !promptCaching
  if (isNameOnly && Object.keys(otherFields).length === 0) return name
  return {
    model: name,
    ...otherFields,
    ...(weight.trim() !== '' && { weight: Number(weight) }),
    ...(when.trim() !== '' && { when: parseJson(when) }),
    ...(hasText(params) && { params: toParams(params) }),
    ...(promptCaching && { promptCaching: fromCachingChoice(promptCaching) }),
  }
}

/** Converts values to the text in form fields. */
export function toTexts(names: readonly string[], values: object = {}): Record<string, string> {
  const toText = (value: unknown = '') => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.fromEntries(names.map((name) => [name, toText(Reflect.get(values, name))]))
}

export const hasText = (values: object) => Object.values(values).some((text) => text.trim() !== '')

/** Converts form state to parameters. A single stop sequence can be plain text instead of a JSON array. */
function toParams({ stopSequences, reasoning, ...counts }: Params) {
  const stopTexts = parseJson(stopSequences)
  return {
    ...toNumbers(counts),
    ...(stopSequences !== '' && { stopSequences: Array.isArray(stopTexts) ? stopTexts : [stopSequences] }),
    ...(reasoning !== '' && { reasoning }),
  }
}
