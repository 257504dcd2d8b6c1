import type { UsageLimits } from '../../../types/limits.ts'
import { type Signal, useAction, useSignal } from '../data.ts'
import { listed } from '../format.ts'
import { countedUnits, type LimitRow, limitsOf, rowsOf, windows } from '../limits.ts'
import { common } from '../texts/frame.ts'
import * as texts from '../texts/keys.ts'
import { Button } from '../ui/basics.tsx'
import { CountField, element, Form, NumberField, part, SelectField, TextField } from '../ui/forms.tsx'

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
  const saving = useAction(() => onSave(input()))

  function input(): OwnerInput {
    const names = listed(models.value)
    return {
      name: name.value.trim(),
      limits: limits.value(),
      models: names.length > 0 ? names : null,
      ...(groups && {
        group: group.value === '' ? null : group.value,
        expiresAt: expires.value === '' ? null : new Date(expires.value).toISOString(),
      }),
    }
  }

  return (
    <Form of={saving}>
      <TextField label={texts.formName} required of={name} />
      {groups && (
        <div class="row">
          <SelectField
            label={texts.formOfGroup}
            of={group}
            options={[['', texts.formNoGroup], ...groups.map(({ id, name: text }) => [id, text] as const)]}
          />
          <TextField label={texts.formExpires} hint={texts.formExpiresHint} type="datetime-local" of={expires} />
        </div>
      )}
      <TextField label={texts.formModels} hint={texts.formModelsHint} of={models} />
      <LimitFieldset limits={limits} />
    </Form>
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
      <legend>{texts.formLimits}</legend>
      {rows.value.map((row, at) => (
        <LimitFields
          key={at}
          of={element(rows, row)}
          onRemove={() => (rows.value = rows.value.filter((other) => other !== row))}
        />
      ))}
      <div class="row">
        <div class="field">
          <Button onClick={() => (rows.value = [...rows.value, { unit: 'usd', amount: '', window: 'month' }])}>
            {texts.formAdd}
          </Button>
        </div>
        <CountField label={texts.formParallel} of={parallel} />
      </div>
      <p class="hint">{texts.formWindowsHint}</p>
    </fieldset>
  )
}

const LimitFields = ({ of, onRemove }: { of: { value: LimitRow }; onRemove: () => void }) => (
  <div class="row">
    <NumberField label={texts.formAmount} of={part(of, 'amount')} />
    <SelectField
      label={texts.formUnit}
      of={part(of, 'unit')}
      options={countedUnits.map((unit) => [unit, texts.units[unit]] as const)}
    />
    <SelectField
      label={texts.formWindow}
      of={part(of, 'window')}
      options={windows.map((window) => [window, texts.windows[window]] as const)}
    />
    <div class="field">
      <Button kind="quiet" label={common.remove(texts.formLimits)} onClick={onRemove}>
        ✕
      </Button>
    </div>
  </div>
)

/** A time as the field for local times wants it. */
function localInput(time: string): string {
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
