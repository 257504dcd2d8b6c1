import { useAction, useChange, useLoaded, useSignal } from '../data.ts'
import { amountOf, limitTexts, limitWords } from '../limits.ts'
import { api, changing } from '../session.ts'
import { common } from '../texts/frame.ts'
import * as words from '../texts/keys.ts'
import * as texts from '../texts/settings.ts'
import { Await, Button, Problem } from '../ui/basics.tsx'
import { CheckField, CountField, choicesOf, Form, part, SelectField } from '../ui/forms.tsx'
import { Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { LimitFieldset, useLimits } from './owner-form.tsx'

type Settings = Awaited<ReturnType<typeof api.value.settings.get>>
type Damaged = Awaited<ReturnType<typeof api.value.health.list>>['damaged'][number]
type Unit = keyof typeof texts.units

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
                  {amountOf(unit, used)} / {amountOf(unit, limit)} {limitWords(unit, window)}
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
  const unpriced = useSignal(settings.unpriced ?? 'skip')
  const away = useSignal({ ...AWAY, ...settings.whenStoreIsAway })
  const keepRequests = useSignal(String(settings.usage?.keepRequestsDays ?? 30))
  const keepTotals = useSignal(String(settings.usage?.keepTotalsDays ?? 400))
  const attempts = useSignal(String(settings.maxAttempts))
  const isSaved = useSignal(false)
  const saving = useAction(async () => {
    isSaved.value = false
    const change = {
      requireApiKey: requireApiKey.value,
      limits: limits.value(),
      unpriced: unpriced.value,
      whenStoreIsAway: away.value,
      usage: { keepRequestsDays: Number(keepRequests.value), keepTotalsDays: Number(keepTotals.value) },
      maxAttempts: Number(attempts.value),
    }
    await changing(settings, (options) => api.value.settings.update(change, options), change)
    isSaved.value = true
    onSaved()
  })
  return (
    <Form of={saving} beside={<span role="status">{isSaved.value && texts.saved}</span>}>
      <CheckField label={texts.requireApiKey} of={requireApiKey} />
      <p class="hint">{texts.requireHint}</p>
      <h2>{texts.limits}</h2>
      <p class="hint">{limitTexts(settings.limits).join(', ') || words.unlimited}</p>
      <LimitFieldset limits={limits} />
      <SelectField label={texts.unpriced} of={unpriced} options={choicesOf(texts.unprices)} />
      <div class="row">
        {choicesOf(texts.units).map(([unit, text]) => (
          <SelectField
            key={unit}
            label={`${texts.away} ${text}`}
            of={part(away, unit)}
            options={choicesOf(texts.aways)}
          />
        ))}
      </div>
      <h2>{texts.usage}</h2>
      <div class="row">
        <CountField label={texts.keepRequests} of={keepRequests} />
        <CountField label={texts.keepTotals} of={keepTotals} />
        <CountField label={texts.attempts} of={attempts} />
      </div>
    </Form>
  )
}

function DamagedRecords({ damaged, onChange }: { damaged: readonly Damaged[]; onChange: () => void }) {
  const { run, error } = useChange(onChange)
  if (damaged.length === 0) return null
  const columns: Column<Damaged>[] = [
    { name: texts.columnKey, cell: ({ key }) => key },
    { name: texts.columnProblem, cell: ({ problem }) => problem },
    {
      name: texts.columnActions,
      cell: ({ key }) => (
        <Button kind="danger" of={key} onClick={() => run(() => api.value.damagedRecords.delete(key))}>
          {common.delete}
        </Button>
      ),
    },
  ]
  return (
    <Section title={texts.damaged}>
      <p class="hint">{texts.damagedHint}</p>
      <Problem>{error.value}</Problem>
      <Table caption={texts.damaged} columns={columns} rows={damaged} keyOf={({ key }) => key} />
    </Section>
  )
}
