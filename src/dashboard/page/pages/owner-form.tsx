import type { UsageLimits } from '../../../types/limits.ts'
import { type Signal, useAction, useSignal } from '../data.ts'
import { countedUnits, type LimitRow, limitsOf, rowsOf, windows } from '../limits.ts'
import { texts as common } from '../texts/frame.ts'
import { texts } from '../texts/keys.ts'
import { Button, Field, NumberField, Problem, SelectField, TextField } from '../ui/basics.tsx'

/** What keys and groups have in common, as it is sent; `null` for what there is none of. */
export interface OwnerInput {
  name: string
  limits: UsageLimits | null
  models: string[] | null
  /** Of a key alone. */
  expiresAt?: string | null
  group?: string | null
}

/** What is given of something new: it has no `null`. */
export function given<T extends object>(input: T): { [N in keyof T]?: Exclude<T[N], null> } {
  const entries = Object.entries(input).filter(([, value]) => value !== null)
  return Object.fromEntries(entries) as { [N in keyof T]?: Exclude<T[N], null> } // those that are left
}

interface OwnerFormProps {
  /** What is changed; absent for a new one. */
  owner?: { name: string; limits?: UsageLimits; models?: string[]; expiresAt?: string; group?: string } | undefined
  /** The groups that a key can have; absent in the form of a group. */
  groups?: ReadonlyArray<{ id: string; name: string }>
  onSave: (input: OwnerInput) => Promise<unknown>
}

/** The form of a key or a group. */
export function OwnerForm({ owner, groups, onSave }: OwnerFormProps) {
  const name = useSignal(owner?.name ?? '')
  const models = useSignal(owner?.models?.join(', ') ?? '')
  const expires = useSignal(owner?.expiresAt === undefined ? '' : localInput(owner.expiresAt))
  const group = useSignal(owner?.group ?? '')
  const limits = useLimits(owner?.limits)
  const { run, isBusy, error } = useAction(() => onSave(input()))

  function input(): OwnerInput {
    const listed = models.value
      .split(/[\n,]/)
      .map((one) => one.trim())
      .filter(Boolean)
    return {
      name: name.value.trim(),
      limits: limits.value(),
      models: listed.length > 0 ? listed : null,
      ...(groups && {
        group: group.value === '' ? null : group.value,
        expiresAt: expires.value === '' ? null : new Date(expires.value).toISOString(),
      }),
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <TextField label={texts.form.name} required value={name.value} onInput={(value) => (name.value = value)} />
      {groups && (
        <div class="row">
          <SelectField
            label={texts.form.ofGroup}
            value={group.value}
            options={[['', texts.form.noGroup], ...groups.map(({ id, name: text }) => [id, text] as const)]}
            onChange={(value) => (group.value = value)}
          />
          <Field label={texts.form.expires} hint={texts.form.expiresHint}>
            {(ids) => (
              <input
                type="datetime-local"
                {...ids}
                value={expires.value}
                onInput={({ currentTarget }) => (expires.value = currentTarget.value)}
              />
            )}
          </Field>
        </div>
      )}
      <TextField
        label={texts.form.models}
        hint={texts.form.modelsHint}
        value={models.value}
        onInput={(value) => (models.value = value)}
      />
      <LimitFieldset limits={limits} />
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <Button kind="primary" type="submit" disabled={isBusy.value}>
        {common.common.save}
      </Button>
    </form>
  )
}

/** The limits of a form. */
interface LimitsState {
  rows: Signal<LimitRow[]>
  parallel: Signal<string>
  /** As they are sent; `null` where there are none. */
  value: () => UsageLimits | null
}

export function useLimits(limits: UsageLimits | undefined): LimitsState {
  const rows = useSignal<LimitRow[]>(rowsOf(limits))
  const parallel = useSignal(limits?.parallel === undefined ? '' : String(limits.parallel))
  return { rows, parallel, value: () => limitsOf(rows.value, parallel.value) }
}

export function LimitFieldset({ limits: { rows, parallel } }: { limits: LimitsState }) {
  return (
    <fieldset>
      <legend>{texts.form.limits}</legend>
      {rows.value.map((row, at) => (
        <LimitFields
          key={at}
          row={row}
          onChange={(change) =>
            (rows.value = rows.value.map((one, place) => (place === at ? { ...one, ...change } : one)))
          }
          onRemove={() => (rows.value = rows.value.filter((_, place) => place !== at))}
        />
      ))}
      <div class="row">
        <div class="field">
          <Button onClick={() => (rows.value = [...rows.value, { unit: 'usd', amount: '', window: 'month' }])}>
            {texts.form.add}
          </Button>
        </div>
        <NumberField
          label={texts.form.parallel}
          min={1}
          step={1}
          value={parallel.value}
          onInput={(value) => (parallel.value = value)}
        />
      </div>
      <p class="hint">{texts.form.windowsHint}</p>
    </fieldset>
  )
}

interface LimitFieldsProps {
  row: LimitRow
  onChange: (change: Partial<LimitRow>) => void
  onRemove: () => void
}

function LimitFields({ row, onChange, onRemove }: LimitFieldsProps) {
  return (
    <div class="row">
      <NumberField label={texts.form.amount} value={row.amount} onInput={(amount) => onChange({ amount })} />
      <SelectField
        label={texts.form.unit}
        value={row.unit}
        options={countedUnits.map((unit) => [unit, texts.units[unit]] as const)}
        onChange={(unit) => onChange({ unit: countedUnits.find((one) => one === unit) ?? 'usd' })}
      />
      <SelectField
        label={texts.form.window}
        value={row.window}
        options={windows.map((window) => [window, texts.windows[window]] as const)}
        onChange={(window) => onChange({ window: windows.find((one) => one === window) ?? 'month' })}
      />
      <div class="field">
        <Button kind="quiet" label={common.common.remove(texts.form.limits)} onClick={onRemove}>
          ✕
        </Button>
      </div>
    </div>
  )
}

/** A time as the field for local times wants it. */
function localInput(time: string): string {
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
