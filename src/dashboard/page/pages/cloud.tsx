import { useAction, useLoaded, useSignal } from '../data.ts'
import { duration } from '../format.ts'
import { api } from '../session.ts'
import { texts } from '../texts/cloud.ts'
import { texts as common } from '../texts/frame.ts'
import { Await, Button, Problem, State, Text, TextField, Time } from '../ui/basics.tsx'
import { type Column, Table } from '../ui/table.tsx'

type CloudState = Awaited<ReturnType<typeof api.value.cloud.get>>
type Conflict = CloudState['conflicts'][number]

/** The mirror at a cloud. */
export default function Cloud() {
  const { state, reload } = useLoaded(() => api.value.cloud.get(), { everyMs: 10_000 })
  return (
    <>
      <p>{texts.what}</p>
      <Await of={state.value} onRetry={reload}>
        {(cloud) => (
          <>
            <Facts cloud={cloud} />
            <Actions cloud={cloud} onDone={reload} />
            <section aria-labelledby="conflicts">
              <h2 id="conflicts">{texts.conflicts}</h2>
              <Table
                caption={texts.conflicts}
                columns={conflictColumns}
                rows={[...cloud.conflicts].reverse()}
                keyOf={({ collection, id, at }) => `${collection} ${id} ${at}`}
                empty={texts.noConflicts}
              />
            </section>
          </>
        )}
      </Await>
    </>
  )
}

function Facts({ cloud: { cloudEnabled, cloudUrl, lastSuccessAt, lagMs, lastError } }: { cloud: CloudState }) {
  return (
    <dl class="facts">
      <div>
        <dt>{texts.facts.mode}</dt>
        <dd>
          <State kind={!cloudEnabled ? 'off' : lastError === null ? 'good' : 'bad'}>
            {!cloudEnabled ? texts.state.off : lastError === null ? texts.state.on : texts.state.behind}
          </State>
        </dd>
      </div>
      <div>
        <dt>{texts.facts.url}</dt>
        <dd>
          <Text of={cloudUrl || common.common.none} />
        </dd>
      </div>
      <div>
        <dt>{texts.facts.last}</dt>
        <dd>{lastSuccessAt === null ? common.common.never : <Time at={lastSuccessAt} />}</dd>
      </div>
      {lagMs > 0 && (
        <div>
          <dt>{texts.facts.lag}</dt>
          <dd>{duration(lagMs)}</dd>
        </div>
      )}
      {lastError !== null && (
        <div>
          <dt>{texts.facts.error}</dt>
          <dd>
            <Text of={lastError} />
          </dd>
        </div>
      )}
    </dl>
  )
}

function Actions({ cloud: { cloudEnabled, cloudUrl }, onDone }: { cloud: CloudState; onDone: () => void }) {
  const url = useSignal(cloudUrl)
  const enrolment = useSignal('')
  const said = useSignal('')
  const { run, isBusy, error } = useAction(async (act: () => Promise<{ message?: string } | object>) => {
    said.value = ''
    const result = await act()
    if ('message' in result && typeof result.message === 'string') said.value = result.message
    onDone()
  })
  const { cloud, settings } = api.value
  const disabled = isBusy.value
  return (
    <>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <p role="status">{isBusy.value ? common.common.loading : said.value}</p>
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
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault()
            const given = enrolment.value.trim()
            void run(async () => {
              if (url.value.trim() !== cloudUrl) await settings.update({ cloudUrl: url.value.trim() })
              return cloud.enable(given === '' ? {} : { enrolment: given })
            })
          }}
        >
          <TextField label={texts.url} required value={url.value} onInput={(value) => (url.value = value)} />
          <TextField
            label={texts.enrolment}
            hint={texts.enrolmentHint}
            type="password"
            value={enrolment.value}
            onInput={(value) => (enrolment.value = value)}
          />
          <div class="field">
            <Button writes kind="primary" type="submit" disabled={disabled}>
              {texts.enable}
            </Button>
          </div>
        </form>
      )}
    </>
  )
}

const conflictColumns: Column<Conflict>[] = [
  { name: texts.columns.what, cell: ({ collection, id }) => <Text of={`${collection}: ${id}`} /> },
  { name: texts.columns.kept, cell: ({ kept }) => texts.sides[kept] },
  { name: texts.columns.at, cell: ({ at }) => <Time at={at} /> },
]
