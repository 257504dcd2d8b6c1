import type { Kind } from '../../../../types/catalog-types.ts'
import type { UsageLimits } from '../../../../types/limits.ts'
import type { PromptCaching } from '../../../../types/records/caching-fields.ts'
import { kindLabels } from '../labels.ts'
import { type Signal, useAction, useSignal } from '../page-data.ts'
import { splitList } from '../page-format.ts'
import { type LimitRow, toLimitRows, toLimits, unitLabels, windowLabels } from '../page-limits.ts'
import {
  bindField,
  CheckFields,
  CountField,
  Form,
  NumberField,
  Rows,
  SelectField,
  TextField,
  toChoices,
} from '../ui/forms.tsx'
import { fromPairs, PairFields, readTag, toPairs } from '../ui/pair-fields.tsx'
import { CachingField, fromCachingChoice, toCachingChoice } from './caching-field.tsx'

/** The input for keys, groups, and accounts; `null` removes a field. */
export interface OwnerInput {
  name: string
  limits: UsageLimits | null
  models: string[] | null
  kinds: Kind[] | null
  metadata: Record<string, string> | null
  promptCaching: PromptCaching | null
  /** Only for keys and groups. */
  require?: Record<string, string | boolean> | null
  guards?: string[] | null
  /** Only for keys. */
  guardsExcept?: string[] | null
  expiresAt?: string | null
  group?: string | null
  actsFor?: { plan?: string } | null
  /** Only for groups. */
  each?: UsageLimits | null
  /** Only for accounts. */
  id?: string
  plan?: string | null
}

/** Removes `null` fields, which are invalid in the input for a new record. */
export function omitNulls<T extends object>(readInput: T): { [N in keyof T]?: Exclude<T[N], null> } {
  const entries = Object.entries(readInput).filter(([, value]) => value !== null)
  return Object.fromEntries(entries) as { [N in keyof T]?: Exclude<T[N], null> } // the nulls are gone
}

interface OwnerFormProps {
  of: 'key' | 'group' | 'account'
  /** The record to edit. Absent for a new record. */
  owner?: {
    name?: string
    expiresAt?: string
    group?: string
    actsFor?: { plan?: string }
    plan?: string
    promptCaching?: PromptCaching
  } & {
    [Name in 'limits' | 'each' | 'models' | 'kinds' | 'metadata' | 'require' | 'guards' | 'guardsExcept']?: NonNullable<
      OwnerInput[Name]
    >
  }
  /** The groups that the user can choose from. Absent in a group's form. */
  groups?: ReadonlyArray<{ id: string; name: string }>
  onSave: (readInput: OwnerInput) => Promise<unknown>
}

/** The value of `actsFor` for a key that has no default plan. */
const ANY_NAME = '*'

/** The form for a key, a group, or an account. */
export function OwnerForm({ of, owner, groups, onSave }: OwnerFormProps) {
  const isAccount = of === 'account'
  const id = useSignal('')
  const name = useSignal(owner?.name ?? '')
  const models = useSignal(owner?.models?.join(', ') ?? '')
  const expiresAt = useSignal(owner?.expiresAt === undefined ? '' : toLocalInput(owner.expiresAt))
  const group = useSignal(owner?.group ?? owner?.plan ?? '')
  const actsFor = useSignal(owner?.actsFor ? (owner.actsFor.plan ?? ANY_NAME) : '')
  const promptCaching = useSignal(toCachingChoice(owner?.promptCaching))
  const limits = useLimits(owner?.limits)
  const eachLimits = useLimits(owner?.each)
  const kinds = useSignal<Kind[]>(owner?.kinds ?? [])
  const require = useSignal(toPairs(owner?.require))
  const metadata = useSignal(toPairs(owner?.metadata))
  const guards = useSignal(owner?.guards?.join(', ') ?? '')
  const guardsExcept = useSignal(owner?.guardsExcept?.join(', ') ?? '')
  const saveAction = useAction(() => onSave(readInput()))

  function readInput(): OwnerInput {
    return {
      name: name.value.trim(),
      limits: limits.value(),
      models: toNames(models.value),
      kinds: kinds.value.length > 0 ? kinds.value : null,
      metadata: fromPairs(metadata.value, (text) => text),
      require: fromPairs(require.value, readTag),
      promptCaching: fromCachingChoice(promptCaching.value),
      ...(of === 'key' && {
        group: group.value || null,
        actsFor: actsFor.value ? (actsFor.value === ANY_NAME ? {} : { plan: actsFor.value }) : null,
        expiresAt: expiresAt.value === '' ? null : new Date(expiresAt.value).toISOString(),
        guardsExcept: toNames(guardsExcept.value),
      }),
      ...(!isAccount && { guards: toNames(guards.value) }),
      ...(of === 'group' && { each: eachLimits.value() }),
      ...(isAccount && { plan: group.value || null, ...(!owner && { id: id.value }) }),
    }
  }

  return (
    <Form of={saveAction} submit={owner ? 'Save' : 'Create'}>
      {isAccount && !owner && (
        <TextField label="ID" path="id" hint="Your app’s own ID of this user or customer." required of={id} />
      )}
      <TextField label="Name" path="name" required={!isAccount} of={name} />
      {groups && (
        <div class="row">
          <SelectField
            label={isAccount ? 'Plan' : 'Group'}
            path={isAccount ? 'plan' : 'group'}
            of={group}
            options={[
              ['', isAccount ? 'As your app says' : 'None'],
              ...groups.map(({ id: groupId, name: text }) => [groupId, text] as const),
            ]}
          />
          {!isAccount && (
            <>
              <TextField
                label="Expires"
                path="expiresAt"
                hint="In your local time. Leave empty for no expiration."
                type="datetime-local"
                of={expiresAt}
              />
              <SelectField
                label="Acts for accounts"
                path="actsFor"
                of={actsFor}
                options={[
                  ['', 'No'],
                  [ANY_NAME, 'Yes'],
                  ...groups.map(({ id: groupId, name: text }) => [groupId, `Yes, default plan: ${text}`] as const),
                ]}
              />
            </>
          )}
        </div>
      )}
      <TextField
        label="Allowed models"
        path="models"
        hint="Models, combos, or aliases, separated by commas. Use * as a wildcard. An allowed combo or alias includes the models behind it. Leave empty to allow all models."
        of={models}
      />
      <fieldset>
        <legend>Allowed kinds</legend>
        <div class="checks">
          <CheckFields of={kinds} options={toChoices(kindLabels)} />
        </div>
        <p class="hint">Leave all unchecked to allow every kind.</p>
      </fieldset>
      <CachingField of={promptCaching} inherited="Default" />
      <LimitFieldset title="Limits" path="limits" limits={limits} />
      {of === 'group' && (
        <LimitFieldset title="Limits for each account with this plan" path="each" limits={eachLimits} />
      )}
      {!isAccount && <TextField label="Guards" path="guards" hint="Names, separated by commas." of={guards} />}
      {of === 'key' && (
        <TextField
          label="Guards to skip"
          path="guardsExcept"
          hint="Guards that don’t check this key’s requests, even if named elsewhere."
          of={guardsExcept}
        />
      )}
      <PairFields title="Required tags" path="require" of={require} />
      <PairFields
        title="Metadata"
        path="metadata"
        noun="metadata"
        hint="Up to 16 key-value pairs that appear in usage records. They don’t affect requests."
        of={metadata}
      />
    </Form>
  )
}

/** Returns the names in a field, or `null` if there are none. */
export function toNames(text: string): string[] | null {
  const names = splitList(text)
  return names.length > 0 ? names : null
}

/** The limits as form state. */
interface LimitsState {
  rows: Signal<LimitRow[]>
  parallel: Signal<string>
  /** Returns the API input, or `null` if there are no limits. */
  value: () => UsageLimits | null
}

export function useLimits(limits: UsageLimits | undefined): LimitsState {
  const rows = useSignal<LimitRow[]>(toLimitRows(limits))
  const parallel = useSignal(limits?.parallel === undefined ? '' : String(limits.parallel))
  return { rows, parallel, value: () => toLimits(rows.value, parallel.value) }
}

interface LimitFieldsetProps {
  title: string
  /** The API field that contains these limits. */
  path: string
  limits: LimitsState
}

export function LimitFieldset({ title, path, limits: { rows, parallel } }: LimitFieldsetProps) {
  return (
    <fieldset>
      <legend>{title}</legend>
      <Rows
        of={rows}
        emptyRow={{ unit: 'usd', amount: '', window: 'month' }}
        addLabel="Add limit"
        noun="limit"
        beside={<CountField label="Concurrent requests" path={`${path}.parallel`} of={parallel} />}
      >
        {(row) => (
          <>
            <NumberField
              label="Limit"
              path={`${path}.${row.value.unit}.${row.value.window}`}
              of={bindField(row, 'amount')}
            />
            <SelectField label="Unit" of={bindField(row, 'unit')} options={toChoices(unitLabels)} />
            <SelectField label="Period" of={bindField(row, 'window')} options={toChoices(windowLabels)} />
          </>
        )}
      </Rows>
      <p class="hint">Periods follow the UTC calendar, and weeks start on Monday.</p>
    </fieldset>
  )
}

function toLocalInput(time: string): string {
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
