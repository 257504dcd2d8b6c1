import { useId } from 'preact/hooks'
import type { Kind } from '../../../../types/catalog-types.ts'
import type { ResponseCondition, Strategy } from '../../../../types/combo.ts'
import { kindLabels } from '../labels.ts'
import { useAction, useData, useSignal } from '../page-data.ts'
import { api, changeRecord, uncheckedApi } from '../session.ts'
import {
  bindField,
  CheckFields,
  CountField,
  Form,
  SelectField,
  Suggestions,
  TextField,
  toChoices,
  toLabel,
  toNumbers,
} from '../ui/forms.tsx'
import { Entries, type Entry, filterNamed, hasText, toComboModel, toEntryState, toTexts } from './combo-entries.tsx'
import type { ComboView } from './combos.tsx'
import { toNames } from './owner-form.tsx'

/** A description of each strategy, and whether it uses the entries' weights. */
export const strategyTraits: Readonly<Record<Strategy, readonly [hint: string, usesWeight: boolean]>> = {
  fallback: ['In order. Falls back to the next model on failure.', false],
  'round-robin': ['Models take turns going first.', false],
  weighted: ['Random order, by weight.', true],
  random: ['Random order, equal odds.', false],
  'least-latency': ['Fastest model first.', false],
  'least-cost': ['Cheapest model first.', false],
  'least-busy': ['Model with the fewest in-flight requests first.', false],
  sticky: ['Same model for all requests in a session.', true],
  conditional: ['First model whose condition matches.', false],
}

const timeoutLabels = {
  headersMs: 'First token',
  idleMs: 'Between chunks',
  totalMs: 'Total (non-streaming)',
} as const

type Timeouts = Record<keyof typeof timeoutLabels, string>

export function ComboForm({ combo, onSaved }: { combo?: ComboView; onSaved: () => void }) {
  const name = useSignal(combo?.name ?? '')
  const kind = useSignal<Kind>(combo?.kind ?? 'llm')
  const strategy = useSignal<Strategy>(combo?.strategy ?? 'fallback')
  const stickyLimit = useSignal(String(combo?.stickyLimit ?? ''))
  const maxAttempts = useSignal(String(combo?.maxAttempts ?? ''))
  const connectionStrategy = useSignal<Strategy | ''>(combo?.connectionStrategy ?? '')
  const guards = useSignal(combo?.guards?.join(', ') ?? '')
  const flags = useSignal<Flag[]>(flagNames.filter((flag) => combo?.[flag]))
  const on = useSignal<ResponseCondition[]>([...(combo?.on ?? [])])
  const timeouts = useSignal(toTexts(Object.keys(timeoutLabels), combo?.timeouts) as Timeouts) // `toTexts` returns exactly these names
  const entries = useSignal<Entry[]>((combo?.models ?? ['']).map(toEntryState))
  const { state: published } = useData(async () =>
    (await api.value.models.published({ kinds: kind.value })).data.map(({ id }) => id),
  )
  const saveAction = useAction(async () => {
    // An undefined field isn't sent; `null` and `false` change a stored field.
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
  const listId = useId()
  const [hint, usesWeight] = strategyTraits[strategy.value]

  return (
    <Form of={saveAction} submit={combo ? 'Save' : 'Create'}>
      <div class="row">
        <TextField label="Name" path="name" required of={name} />
        <SelectField label="Kind" of={kind} options={toChoices(kindLabels)} />
      </div>
      <SelectField label="Strategy" path="strategy" hint={hint} of={strategy} options={strategies} />
      <Suggestions id={listId} of={published.value.value} />
      <Entries entries={entries} listId={listId} isWeighted={usesWeight} isChat={kind.value === 'llm'} />
      <div class="row">
        {strategy.value === 'round-robin' && (
          <CountField label="Requests per turn" path="stickyLimit" of={stickyLimit} />
        )}
        <CountField label="Max attempts" path="maxAttempts" of={maxAttempts} />
        <SelectField
          label="Connection strategy"
          path="connectionStrategy"
          of={connectionStrategy}
          options={[['', 'Default'], ...strategies.filter(([name]) => name !== 'conditional')]}
        />
      </div>
      <TextField label="Guards" path="guards" hint="Names, separated by commas." of={guards} />
      <fieldset>
        <legend>Timeouts (ms)</legend>
        <div class="row">
          {toChoices(timeoutLabels).map(([name, label]) => (
            <CountField key={name} label={label} path={`timeouts.${name}`} of={bindField(timeouts, name)} />
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

/** The flags that are available for combos of only one kind. */
const kindFlags: { [K in Kind]?: Flag } = { embedding: 'sameVectors', image: 'retryAmbiguous' }

const flagNames = toChoices(flagLabels).map(([flag]) => flag)

/** The strategies and their labels. */
const strategies = (Object.keys(strategyTraits) as Strategy[]).map((strategy) => [strategy, toLabel(strategy)] as const) // `strategyTraits` has no other keys

const responseLabels: Readonly<Record<Exclude<ResponseCondition, 'function'>, string>> = {
  content: 'Try the next model when a content filter stops the response',
  schema: 'Try the next model when the response doesn’t match the requested JSON schema',
  refused: 'Try the next model when a guard rejects the response',
}

/** Returns an optional positive number, or `null` if the user has cleared a stored number. */
const toOptionalCount = (text: string, storedCount: number | undefined) =>
  text.trim() !== '' ? Number(text) : storedCount && null
