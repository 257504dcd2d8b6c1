import { useId } from 'preact/hooks'
import type { Kind } from '../../../../types/catalog-types.ts'
import type { ComboModel, ResponseCondition, Strategy } from '../../../../types/combo.ts'
import { kindLabels } from '../labels.ts'
import { useAction, useData, useSignal } from '../page-data.ts'
import { api, changeRecord, uncheckedApi } from '../session.ts'
import { Button } from '../ui/basics.tsx'
import {
  bindElement,
  bindField,
  bindValue,
  CheckFields,
  CountField,
  Form,
  NumberField,
  SelectField,
  Suggestions,
  TextField,
  toChoices,
  toNumbers,
} from '../ui/forms.tsx'
import { type CachingChoice, CachingField, fromCachingChoice, toCachingChoice } from './caching-field.tsx'
import type { ShownCombo } from './combos.tsx'
import { toNames } from './owner-form.tsx'

/** Returns a strategy's label, such as "Round robin" or "Least cost". */
export const getStrategyLabel = (name: Strategy): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replace('-', ' ')

export const strategyHints: Readonly<Record<Strategy, string>> = {
  fallback: 'In order. Falls back to the next model on failure.',
  'round-robin': 'Models take turns going first.',
  weighted: 'Random order, by weight.',
  random: 'Random order, equal odds.',
  'least-latency': 'Fastest model first.',
  'least-cost': 'Cheapest model first.',
  'least-busy': 'Model with the fewest in-flight requests first.',
  sticky: 'Same model for all requests in a session.',
  conditional: 'First model whose condition matches.',
}

const paramNames = [
  ['maxTokens', 'Max tokens'],
  ['temperature', 'Temperature'],
  ['topP', 'Top P'],
  ['topK', 'Top K'],
  ['stopSequences', 'Stop sequences'],
  ['seed', 'Seed'],
  ['presencePenalty', 'Presence penalty'],
  ['frequencyPenalty', 'Frequency penalty'],
  ['reasoning', 'Reasoning effort'],
] as const
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
const timeoutNames = [
  ['headersMs', 'First token'],
  ['idleMs', 'Between chunks'],
  ['totalMs', 'Total (non-streaming)'],
] as const

/** A combo entry in the form's state. */
interface Entry {
  /** Stays the same when the entry moves. */
  key: number
  model: string
  weight: string
  when: string
  params: Params
  promptCaching: CachingChoice
  /** Fields that the form doesn't show and doesn't change. */
  more: Omit<Exclude<ComboModel, string>, 'model' | 'weight' | 'when' | 'params' | 'promptCaching'>
}

/** An entry's parameters in the form's state. */
type Params = Record<(typeof paramNames)[number][0], string>
type Timeouts = Record<(typeof timeoutNames)[number][0], string>

export function ComboForm({ combo, onSaved }: { combo?: ShownCombo; onSaved: () => void }) {
  const name = useSignal(combo?.name ?? '')
  const kind = useSignal<Kind>(combo?.kind ?? 'llm')
  const strategy = useSignal<Strategy>(combo?.strategy ?? 'fallback')
  const stickyLimit = useSignal(String(combo?.stickyLimit ?? ''))
  const maxAttempts = useSignal(String(combo?.maxAttempts ?? ''))
  const connectionStrategy = useSignal<Strategy | ''>(combo?.connectionStrategy ?? '')
  const guards = useSignal(combo?.guards?.join(', ') ?? '')
  const flags = useSignal<Flag[]>(flagNames.filter((flag) => combo?.[flag]))
  const on = useSignal<ResponseCondition[]>([...(combo?.on ?? [])])
  const timeouts = useSignal(toTexts(timeoutNames, combo?.timeouts) as Timeouts) // has exactly these names
  const entries = useSignal<Entry[]>((combo?.models ?? ['']).map(toEntryState))
  const { state: published } = useData(async () =>
    (await api.value.models.published({ kinds: kind.value })).data.map(({ id }) => id),
  )
  const saving = useAction(async () => {
    // An undefined field is not sent; null and false change a stored one.
    const input = {
      name: name.value.trim(),
      kind: kind.value,
      strategy: strategy.value,
      models: filterNamed(entries.value).map(toComboModel),
      stickyLimit: toOptionalCount(stickyLimit.value, combo?.stickyLimit),
      maxAttempts: toOptionalCount(maxAttempts.value, combo?.maxAttempts),
      connectionStrategy: connectionStrategy.value || (combo?.connectionStrategy && null),
      guards: toNames(guards.value) ?? (combo?.guards && null),
      ...Object.fromEntries(flagNames.map((flag) => [flag, flags.value.includes(flag) || (combo?.[flag] && false)])),
      on: on.value.length > 0 ? on.value : combo?.on && null,
      timeouts: hasText(timeouts.value) ? toNumbers(timeouts.value) : combo?.timeouts && null,
    }
    const { combos } = uncheckedApi.value
    if (combo) await changeRecord(combo, (options) => combos.update(combo.id, input, options), input)
    else await combos.create(input)
    onSaved()
  })
  const list = useId()
  const isWeighted = strategy.value === 'weighted' || strategy.value === 'sticky'

  return (
    <Form of={saving} submit={combo ? 'Save' : 'Create'}>
      <div class="row">
        <TextField label="Name" path="name" required of={name} />
        <SelectField label="Kind" of={kind} options={toChoices(kindLabels)} />
      </div>
      <SelectField
        label="Strategy"
        path="strategy"
        hint={strategyHints[strategy.value]}
        of={strategy}
        options={strategies}
      />
      <Suggestions id={list} of={published.value.value} />
      <Entries entries={entries} list={list} isWeighted={isWeighted} isChat={kind.value === 'llm'} />
      <div class="row">
        {strategy.value === 'round-robin' && (
          <CountField label="Requests per turn" path="stickyLimit" of={stickyLimit} />
        )}
        <CountField label="Max attempts" path="maxAttempts" of={maxAttempts} />
        <SelectField
          label="Connection strategy"
          path="connectionStrategy"
          of={connectionStrategy}
          options={[['', 'Default'], ...strategies.slice(0, -1)]}
        />
      </div>
      <TextField label="Guards" path="guards" hint="Names, separated by commas." of={guards} />
      <fieldset>
        <legend>Timeouts (ms)</legend>
        <div class="row">
          {timeoutNames.map(([one, label]) => (
            <CountField key={one} label={label} path={`timeouts.${one}`} of={bindField(timeouts, one)} />
          ))}
        </div>
        <p class="hint">Applied to each provider call. Leave empty to use the gateway’s settings.</p>
      </fieldset>
      <CheckFields
        of={flags}
        options={toChoices(flagLabels).filter(
          ([flag]) => flag === 'hedge' || flags.value.includes(flag) || flag === kindFlags[kind.value],
        )}
      />
      <CheckFields of={on} options={toChoices(responseLabels)} />
    </Form>
  )
}

const flagLabels = {
  hedge: 'Hedge slow requests: if the first model is slow, call a second one and use the faster response',
  sameVectors: 'Allow different models, because their vectors are compatible',
  retryAmbiguous: 'Try the next model after a failure that may be billed, such as a timeout',
} as const

type Flag = keyof typeof flagLabels

/** The flags that are only for combos of one kind. */
const kindFlags: { [K in Kind]?: Flag } = { embedding: 'sameVectors', image: 'retryAmbiguous' }

const flagNames = toChoices(flagLabels).map(([flag]) => flag)

/** The strategies with their labels. The last one isn't for connections. */
const strategies = toChoices(strategyHints).map(([one]) => [one, getStrategyLabel(one)] as const)

const responseLabels: Readonly<Record<Exclude<ResponseCondition, 'function'>, string>> = {
  content: 'Try the next model when a content filter stops the response',
  schema: 'Try the next model when the response doesn’t match the requested JSON schema',
  refused: 'Try the next model when a guard rejects the response',
}

interface EntriesProps {
  entries: { value: Entry[] }
  /** The ID of the model suggestions. */
  list: string
  isWeighted: boolean
  isChat: boolean
}

const filterNamed = (entries: readonly Entry[]) => entries.filter(({ model }) => model.trim() !== '')

/** Lists the models in order. Drag them, or press Alt and an arrow key, to move them. */
function Entries({ entries, list, isWeighted, isChat }: EntriesProps) {
  const message = useSignal('')
  const draggedIndex = useSignal<number | undefined>(undefined)
  function move(from: number, to: number) {
    if (to < 0 || to >= entries.value.length || from === to) return
    const moved = [...entries.value]
    const [entry] = moved.splice(from, 1)
    if (!entry) return
    moved.splice(to, 0, entry)
    entries.value = moved
    message.value = `${entry.model} moved to position ${to + 1} of ${moved.length}.`
  }
  return (
    <fieldset>
      <legend>Models</legend>
      <ol class="bare">
        {entries.value.map((entry, at) => {
          const path = `models[${filterNamed(entries.value).indexOf(entry)}]`
          const field = bindElement(entries, entry)
          return (
            <li
              key={entry.key}
              class="row"
              onDragOver={(event) => event.preventDefault()}
              onDrop={(event) => {
                event.preventDefault()
                if (draggedIndex.value !== undefined) move(draggedIndex.value, at)
              }}
            >
              <button
                type="button"
                class="quiet handle"
                draggable
                aria-label={`Move ${entry.model}: drag, or press Alt+Up or Alt+Down`}
                onDragStart={() => (draggedIndex.value = at)}
                onKeyDown={(event) => {
                  if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
                  event.preventDefault()
                  move(at, at + (event.key === 'ArrowUp' ? -1 : 1))
                }}
              >
                ≡
              </button>
              <TextField label="Model" path={path} list={list} of={bindField(field, 'model')} />
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
              {(isChat || hasText(entry.params)) && (
                <details class="params" open={hasText(entry.params) || entry.promptCaching !== '' || undefined}>
                  <summary>Parameters</summary>
                  <div class="row">
                    {paramNames.map(([name, label]) => {
                      const of = bindField(bindField(field, 'params'), name)
                      const terms = { key: name, label, path: `${path}.params.${name}`, of }
                      if (name === 'stopSequences')
                        return (
                          <TextField
                            {...terms}
                            hint={'A single sequence, or a JSON array such as ["END", "\\n\\n"].'}
                          />
                        )
                      if (name !== 'reasoning') return <NumberField {...terms} min={undefined} />
                      return <SelectField {...terms} options={[['', 'Client’s value'], ...efforts]} />
                    })}
                  </div>
                  <CachingField
                    of={bindField(field, 'promptCaching')}
                    inherited="As the connection says"
                    path={`${path}.promptCaching`}
                  />
                  <p class="hint">These override the client’s values. Leave a field empty to use the client’s value.</p>
                </details>
              )}
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

function ConditionFields({ of }: { of: { value: string } }) {
  const condition = isCondition(of.value) ? parseCondition(of.value) : {}
  const member = (name: string, shown: string, read: (text: string) => unknown) =>
    bindValue(shown, (text) => {
      const { [name]: _, ...others } = condition
      const value = text === '' ? undefined : read(text)
      const changed = value === undefined ? others : { ...others, [name]: value }
      of.value = Object.keys(changed).length > 0 ? JSON.stringify(changed) : ''
    })
  const { model = '', bytes } = condition
  const size = (end: 'min' | 'max') => {
    const sizes: object = typeof bytes === 'object' && bytes !== null ? bytes : {}
    const { [end]: shown, ...other } = sizes as Partial<Record<'min' | 'max', unknown>>
    const field = member('bytes', String(shown ?? ''), (text) => ({ ...sizes, [end]: Number(text) }))
    const without = member('bytes', '', () => (Object.keys(other).length > 0 ? other : undefined))
    return bindValue(field.value, (text) => {
      if (text === '') without.value = 'without'
      else field.value = text
    })
  }
  return (
    <details class="params">
      <summary>Condition builder</summary>
      <div class="row">
        <TextField
          label="Requested model"
          of={member('model', String(model), (text) => (text.includes(',') ? text.split(',') : text))}
        />
        {toChoices({ stream: 'Streaming', tools: 'Has tools', images: 'Has images' }).map(([name, label]) => (
          <SelectField
            key={name}
            label={label}
            of={member(name, String(condition[name] ?? ''), (text) => text === 'true')}
            options={toChoices({ '': 'Any', true: 'Yes', false: 'No' })}
          />
        ))}
        <NumberField label="Min body size (bytes)" of={size('min')} />
        <NumberField label="Max body size (bytes)" of={size('max')} />
      </div>
      <p class="hint">For headers and metadata, edit the JSON above.</p>
    </details>
  )
}

let lastKey = 0

function toEntryState(entry: ComboModel): Entry {
  const { model, weight, when, params, promptCaching, ...more } = typeof entry === 'string' ? { model: entry } : entry
  return {
    key: ++lastKey,
    model,
    weight: weight === undefined ? '' : String(weight),
    when: when ? JSON.stringify(when) : '',
    params: toTexts(paramNames, params) as Params, // has exactly these names
    promptCaching: toCachingChoice(promptCaching),
    more,
  }
}

/** Converts the state to an entry. Sends invalid JSON as a string, so that the gateway's error says what to enter. */
function toComboModel({ model, weight, when, params, promptCaching, more }: Entry) {
  const name = model.trim()
  const isPlain = weight.trim() === '' && when.trim() === '' && !hasText(params) && !promptCaching
  if (isPlain && Object.keys(more).length === 0) return name
  return {
    model: name,
    ...more,
    ...(weight.trim() !== '' && { weight: Number(weight) }),
    ...(when.trim() !== '' && { when: parseJson(when) }),
    ...(hasText(params) && { params: toParams(params) }),
    ...(promptCaching && { promptCaching: fromCachingChoice(promptCaching) }),
  }
}

function toTexts(names: ReadonlyArray<readonly [string, string]>, values: object = {}): Record<string, string> {
  const typed = (value: unknown = '') => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.fromEntries(names.map(([name]) => [name, typed(Reflect.get(values, name))]))
}

const hasText = (values: object) => Object.values(values).some((text) => text.trim() !== '')

/** Converts parameters. A single stop sequence doesn't need a JSON array. */
function toParams({ stopSequences, reasoning, ...counts }: Params) {
  const stops = parseJson(stopSequences)
  return {
    ...toNumbers(counts),
    ...(stopSequences !== '' && { stopSequences: Array.isArray(stops) ? stops : [stopSequences] }),
    ...(reasoning !== '' && { reasoning }),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const isCondition = (text: string) => {
  const value = parseCondition(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const parseCondition = (text: string) => (text.trim() === '' ? {} : parseJson(text)) as Record<string, unknown> // the gateway validates it

/** Returns an optional positive number; `null` if the user has cleared a stored number. */
const toOptionalCount = (typed: string, stored: number | undefined) =>
  typed.trim() !== '' ? Number(typed) : stored && null
