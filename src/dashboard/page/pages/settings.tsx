import { useAction, useLoaded, useSignal } from '../data.ts'
import { amountOf, limitTexts } from '../limits.ts'
import { api } from '../session.ts'
import { texts as common } from '../texts/frame.ts'
import { texts as words } from '../texts/keys.ts'
import { texts } from '../texts/settings.ts'
import { Await, Button, NumberField, Problem, SelectField, Text } from '../ui/basics.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { LimitFieldset, useLimits } from './owner-form.tsx'

type Settings = Awaited<ReturnType<typeof api.value.settings.get>>
type Damaged = Awaited<ReturnType<typeof api.value.health.list>>['damaged'][number]
type Unit = keyof typeof texts.units

const UNITS = Object.keys(texts.units) as Unit[] // its own table
/** What holds where the settings say nothing. */
const AWAY: Record<Unit, 'refuse' | 'allow'> = { usd: 'refuse', tokens: 'refuse', requests: 'allow', parallel: 'allow' }

/** The settings of the gateway, and what is damaged in its storage. */
export default function SettingsView() {
  const { state, reload } = useLoaded(async () => {
    const [settings, { damaged }, { limits }] = await Promise.all([
      api.value.settings.get(),
      api.value.health.list(),
      api.value.settings.limits.get(),
    ])
    return { settings, damaged, limits }
  })
  return (
    <Await of={state.value} onRetry={reload}>
      {({ settings, damaged, limits }) => (
        <>
          <SettingsForm settings={settings} onSaved={reload} />
          {limits.length > 0 && (
            <ul>
              {limits.map(({ unit, window, used, limit }) => (
                <li key={`${unit} ${window}`}>
                  {amountOf(unit, used)} / {amountOf(unit, limit)} {unit === 'usd' ? '' : words.units[unit]}{' '}
                  {window && words.windows[window]}
                </li>
              ))}
            </ul>
          )}
          <DamagedRecords damaged={damaged} onChange={reload} />
        </>
      )}
    </Await>
  )
}

function SettingsForm({ settings, onSaved }: { settings: Settings; onSaved: () => void }) {
  const requireApiKey = useSignal(settings.requireApiKey)
  const limits = useLimits(settings.limits)
  const unpriced = useSignal<string>(settings.unpriced ?? 'skip')
  const away = useSignal({ ...AWAY, ...settings.whenStoreIsAway })
  const keepRequests = useSignal(String(settings.usage?.keepRequestsDays ?? 30))
  const keepTotals = useSignal(String(settings.usage?.keepTotalsDays ?? 400))
  const attempts = useSignal(String(settings.maxAttempts))
  const isSaved = useSignal(false)
  const { run, isBusy, error } = useAction(async () => {
    isSaved.value = false
    const change = {
      requireApiKey: requireApiKey.value,
      limits: limits.value(),
      unpriced: unpriced.value,
      whenStoreIsAway: away.value,
      usage: { keepRequestsDays: Number(keepRequests.value), keepTotalsDays: Number(keepTotals.value) },
      maxAttempts: Number(attempts.value),
    }
    await api.value.settings.update(change as never) // the gateway checks it
    isSaved.value = true
    onSaved()
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <label class="check">
        <input
          type="checkbox"
          checked={requireApiKey.value}
          onChange={({ currentTarget }) => (requireApiKey.value = currentTarget.checked)}
        />
        {texts.requireApiKey}
      </label>
      <p class="hint">{texts.requireHint}</p>
      <h2>{texts.limits}</h2>
      <p class="hint">{limitTexts(settings.limits).join(', ') || words.unlimited}</p>
      <LimitFieldset limits={limits} />
      <SelectField
        label={texts.unpriced}
        value={unpriced.value}
        options={Object.entries(texts.unprices)}
        onChange={(value) => (unpriced.value = value)}
      />
      <div class="row">
        {UNITS.map((unit) => (
          <SelectField
            key={unit}
            label={`${texts.away} ${texts.units[unit]}`}
            value={away.value[unit]}
            options={Object.entries(texts.aways)}
            onChange={(value) => (away.value = { ...away.value, [unit]: value === 'allow' ? 'allow' : 'refuse' })}
          />
        ))}
      </div>
      <h2>{texts.usage}</h2>
      <div class="row">
        <NumberField
          label={texts.keepRequests}
          min={1}
          step={1}
          value={keepRequests.value}
          onInput={(value) => (keepRequests.value = value)}
        />
        <NumberField
          label={texts.keepTotals}
          min={1}
          step={1}
          value={keepTotals.value}
          onInput={(value) => (keepTotals.value = value)}
        />
        <NumberField
          label={texts.attempts}
          min={1}
          step={1}
          value={attempts.value}
          onInput={(value) => (attempts.value = value)}
        />
      </div>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <p class="actions">
        <Button writes kind="primary" type="submit" disabled={isBusy.value}>
          {common.common.save}
        </Button>
        <span role="status">{isSaved.value && texts.saved}</span>
      </p>
    </form>
  )
}

function DamagedRecords({ damaged, onChange }: { damaged: readonly Damaged[]; onChange: () => void }) {
  const { run, error } = useAction(async (key: string) => {
    await api.value.damagedRecords.delete(key)
    onChange()
  })
  if (damaged.length === 0) return null
  const columns: Column<Damaged>[] = [
    { name: texts.columns.key, cell: ({ key }) => <Text of={key} /> },
    { name: texts.columns.problem, cell: ({ problem }) => <Text of={problem} /> },
    {
      name: texts.columns.actions,
      cell: ({ key }) => (
        <Button kind="danger" onClick={() => run(key)}>
          {common.common.delete}
        </Button>
      ),
    },
  ]
  return (
    <section aria-labelledby="damaged">
      <h2 id="damaged">{texts.damaged}</h2>
      <p class="hint">{texts.damagedHint}</p>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <Table caption={texts.damaged} columns={columns} rows={damaged} keyOf={({ key }) => key} />
    </section>
  )
}
