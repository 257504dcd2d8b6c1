import { useAction, useLoaded, useSignal } from '../data.ts'
import { duration } from '../format.ts'
import { api, changing } from '../session.ts'
import * as texts from '../texts/cloud.ts'
import { common } from '../texts/frame.ts'
import { Await, Button, Problem, State, Time } from '../ui/basics.tsx'
import { Form, TextField } from '../ui/forms.tsx'
import { Facts, Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

type CloudState = Awaited<ReturnType<typeof api.value.cloud.get>>
type Settings = Awaited<ReturnType<typeof api.value.settings.get>>
type Conflict = CloudState['conflicts'][number]

/** The mirror at a cloud. */
export default function Cloud() {
  const { state, reload } = useLoaded(
    async () => {
      const [cloud, settings] = await Promise.all([api.value.cloud.get(), api.value.settings.get()])
      return { cloud, settings }
    },
    { everyMs: 10_000 },
  )
  return (
    <>
      <p>{texts.what}</p>
      <Await of={state.value} onRetry={reload}>
        {({ cloud, settings }) => (
          <>
            <CloudFacts {...cloud} />
            <Actions cloud={cloud} settings={settings} onDone={reload} />
            <Section title={texts.conflicts}>
              <Table
                caption={texts.conflicts}
                columns={conflictColumns}
                rows={[...cloud.conflicts].reverse()}
                keyOf={({ collection, id, at }) => `${collection} ${id} ${at}`}
                empty={texts.noConflicts}
              />
            </Section>
          </>
        )}
      </Await>
    </>
  )
}

function CloudFacts({ cloudEnabled, cloudUrl, lastSuccessAt, lagMs, lastError }: CloudState) {
  const kind = !cloudEnabled ? 'off' : lastError === null ? 'good' : 'bad'
  return (
    <Facts
      of={[
        [texts.factMode, <State kind={kind}>{texts.state[kind]}</State>],
        [texts.factUrl, cloudUrl || common.none],
        [texts.factLast, lastSuccessAt === null ? common.never : <Time at={lastSuccessAt} />],
        [texts.factLag, lagMs > 0 ? duration(lagMs) : undefined],
        [texts.factError, lastError ?? undefined],
      ]}
    />
  )
}

interface ActionsProps {
  cloud: CloudState
  settings: Settings
  onDone: () => void
}

function Actions({ cloud: { cloudEnabled }, settings, onDone }: ActionsProps) {
  const base = useSignal(settings).peek() // what the form is filled from
  const url = useSignal(base.cloudUrl)
  const enrolment = useSignal('')
  const said = useSignal('')
  const { run, isBusy, error } = useAction(async (act: () => Promise<{ message?: string } | object>) => {
    said.value = ''
    const result = await act()
    if ('message' in result && typeof result.message === 'string') said.value = result.message
    onDone()
  })
  const { cloud } = api.value
  const disabled = isBusy.value
  const enabling = {
    isBusy,
    error,
    run: () =>
      run(async () => {
        const given = enrolment.value.trim()
        const entered = { cloudUrl: url.value.trim() }
        if (entered.cloudUrl !== base.cloudUrl)
          await changing(base, (options) => api.value.settings.update(entered, options), entered)
        return cloud.enable(given === '' ? {} : { enrolment: given })
      }),
  }
  return (
    <>
      {cloudEnabled && <Problem>{error.value}</Problem>}
      <p role="status">{isBusy.value ? common.loading : said.value}</p>
      {cloudEnabled ? (
        <p class="actions">
          <Button writes disabled={disabled} onClick={() => run(() => cloud.sync())}>
            {texts.sync}
          </Button>
          <Button writes disabled={disabled} onClick={() => run(() => cloud.check())}>
            {texts.check}
          </Button>
          <Button kind="danger" disabled={disabled} onClick={() => run(() => cloud.disable())}>
            {texts.disable}
          </Button>
          <span class="hint">{texts.disableHint}</span>
        </p>
      ) : (
        <Form of={enabling} submit={texts.enable} isRow>
          <TextField label={texts.url} required of={url} />
          <TextField label={texts.enrolment} hint={texts.enrolmentHint} type="password" of={enrolment} />
        </Form>
      )}
    </>
  )
}

const conflictColumns: Column<Conflict>[] = [
  { name: texts.columnWhat, cell: ({ collection, id }) => `${collection}: ${id}` },
  { name: texts.columnKept, cell: ({ kept }) => texts.sides[kept] },
  { name: texts.columnAt, cell: ({ at }) => <Time at={at} /> },
]
