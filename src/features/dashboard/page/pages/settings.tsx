import type { ComponentChildren } from 'preact'
import type { LimitState } from '../../../../types/limits.ts'
import { useAction, useChange, useData, useSignal } from '../page-data.ts'
import { api, changeRecord } from '../session.ts'
import { Await, Button, Problem } from '../ui/basics.tsx'
import { Setting } from '../ui/code-mark.tsx'
import { bindField, CheckField, CountField, Form, SelectField, TextField, toChoices } from '../ui/forms.tsx'
import { Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { CachingField, fromCachingChoice, toCachingChoice } from './caching-field.tsx'
import { LimitUsage } from './limits-dialog.tsx'
import { LimitFieldset, toNames, useLimits } from './owner-form.tsx'

type Settings = Awaited<ReturnType<typeof api.value.settings.get>>
type DamagedRecord = Awaited<ReturnType<typeof api.value.health.list>>['damaged'][number]

/** The defaults for `onStorageUnavailable`. */
const UNAVAILABLE_DEFAULTS = { usd: 'refuse', tokens: 'refuse', requests: 'allow', parallel: 'allow' } as const
const unavailableLabels = {
  usd: 'Dollar limits',
  tokens: 'Token limits',
  requests: 'Request limits',
  parallel: 'Concurrency limits',
} as const

/** Shows the gateway's settings and damaged records in storage. */
export default function SettingsView() {
  const { state, reload } = useData(async () => {
    const [settings, { damaged }, { limits }, { definedInCode }] = await Promise.all([
      api.value.settings.get(),
      api.value.health.list(),
      api.value.settings.limits.get(),
      api.value.info(),
    ])
    return { settings, damaged, limits, inCode: definedInCode.settings }
  })
  return (
    <Await of={state.value} onRetry={reload}>
      {({ settings, damaged, limits, inCode }) => (
        <>
          <SettingsForm settings={settings} states={limits} inCode={inCode} onSaved={reload} />
          <DamagedRecords damaged={damaged} onChange={reload} />
        </>
      )}
    </Await>
  )
}

interface SettingsFormProps {
  settings: Settings
  states: readonly LimitState[]
  /** The names of settings that are defined in code. */
  inCode: readonly string[]
  onSaved: () => void
}

function SettingsForm({ settings, states, inCode, onSaved }: SettingsFormProps) {
  const requireApiKey = useSignal(settings.requireApiKey)
  const showKeyValues = useSignal(settings.showKeyValues ?? true)
  const allowRequestModels = useSignal(settings.allowRequestModels ?? true)
  const guards = useSignal(settings.guards?.join(', ') ?? '')
  const limits = useLimits(settings.limits)
  const whenPriceUnknown = useSignal(settings.whenPriceUnknown ?? 'skip')
  const unavailableActions = useSignal<Record<keyof typeof UNAVAILABLE_DEFAULTS, 'refuse' | 'allow'>>({
    ...UNAVAILABLE_DEFAULTS,
    ...settings.onStorageUnavailable,
  })
  const keepRequests = useSignal(String(settings.usage?.keepRequestsDays ?? 30))
  const keepTotals = useSignal(String(settings.usage?.keepTotalsDays ?? 400))
  const promptCaching = useSignal(toCachingChoice(settings.promptCaching))
  const maxAttempts = useSignal(String(settings.maxAttempts))
  const isSaved = useSignal(false)
  const saveAction = useAction(async () => {
    isSaved.value = false
    const change = {
      requireApiKey: requireApiKey.value,
      showKeyValues: showKeyValues.value,
      allowRequestModels: allowRequestModels.value,
      guards: toNames(guards.value),
      limits: limits.value(),
      whenPriceUnknown: whenPriceUnknown.value,
      onStorageUnavailable: unavailableActions.value,
      usage: { keepRequestsDays: Number(keepRequests.value), keepTotalsDays: Number(keepTotals.value) },
      maxAttempts: Number(maxAttempts.value),
      promptCaching: fromCachingChoice(promptCaching.value),
    }
    for (const name of inCode) Reflect.deleteProperty(change, name)
    await changeRecord(settings, (options) => api.value.settings.update(change, options), change)
    isSaved.value = true
    onSaved()
  })
  const renderSetting = (name: keyof Settings, fields: ComponentChildren) => (
    <Setting inCode={inCode.includes(name)}>{fields}</Setting>
  )
  return (
    <Form of={saveAction} beside={<span role="status">{isSaved.value && 'Saved.'}</span>}>
      {renderSetting(
        'requireApiKey',
        <>
          <CheckField label="Require an API key" of={requireApiKey} />
          <p class="hint">If this is off, anyone who can reach the gateway can use your connections.</p>
        </>,
      )}
      {renderSetting(
        'showKeyValues',
        <>
          <CheckField label="Include key values when the API lists keys" of={showKeyValues} />
          <p class="hint">
            If this is off, GET /api/keys returns a hint in place of each key, unless the caller sets values=all.
          </p>
        </>,
      )}
      {renderSetting(
        'guards',
        <TextField
          label="Guards"
          path="guards"
          hint="Names of guards that check all model requests, separated by commas."
          of={guards}
        />,
      )}
      <h2>Gateway limits</h2>
      {settings.limits && <LimitUsage limits={settings.limits} states={states} />}
      {renderSetting('limits', <LimitFieldset title="Limits" path="limits" limits={limits} />)}
      {renderSetting(
        'whenPriceUnknown',
        <SelectField
          label="When a model’s price is unknown and a dollar limit applies"
          of={whenPriceUnknown}
          options={toChoices({ skip: 'Skip the model', allow: 'Allow the model' })}
        />,
      )}
      {renderSetting(
        'onStorageUnavailable',
        <fieldset>
          <legend>If storage is unavailable</legend>
          <div class="row">
            {toChoices(unavailableLabels).map(([unit, label]) => (
              <SelectField
                key={unit}
                label={label}
                of={bindField(unavailableActions, unit)}
                options={toChoices({ refuse: 'Reject requests', allow: 'Allow requests' })}
              />
            ))}
          </div>
          <p class="hint">What to do with requests when their limits can’t be checked.</p>
        </fieldset>,
      )}
      <h2>Usage records</h2>
      {renderSetting(
        'usage',
        <div class="row">
          <CountField label="Keep individual requests (days)" of={keepRequests} />
          <CountField label="Keep totals (days)" of={keepTotals} />
        </div>,
      )}
      <h2>Routing</h2>
      {renderSetting(
        'allowRequestModels',
        <CheckField label="Allow requests with their own list of models" of={allowRequestModels} />,
      )}
      {renderSetting('promptCaching', <CachingField of={promptCaching} inherited="Default (off)" />)}
      {renderSetting('maxAttempts', <CountField label="Max attempts per request" of={maxAttempts} />)}
    </Form>
  )
}

function DamagedRecords({ damaged, onChange }: { damaged: readonly DamagedRecord[]; onChange: () => void }) {
  const { run, error } = useChange(onChange)
  if (damaged.length === 0) return null
  const columns: Column<DamagedRecord>[] = [
    { name: 'Record', cell: ({ key }) => key },
    { name: 'Problem', cell: ({ problem }) => problem },
    {
      name: 'Actions',
      cell: ({ key }) => (
        <Button kind="danger" of={key} onClick={() => run(() => api.value.damagedRecords.delete(key))}>
          Delete
        </Button>
      ),
    },
  ]
  return (
    <Section title="Damaged records">
      <p class="hint">The gateway can’t read these records in storage, so it ignores them.</p>
      <Problem>{error.value}</Problem>
      <Table caption="Damaged records" columns={columns} rows={damaged} getKey={({ key }) => key} />
    </Section>
  )
}
