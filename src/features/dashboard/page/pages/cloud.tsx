import { useAction, useData, useSignal } from '../page-data.ts'
import { formatDuration } from '../page-format.ts'
import { api, changeRecord } from '../session.ts'
import { Await, Button, Problem, State, Time } from '../ui/basics.tsx'
import { Setting } from '../ui/code-mark.tsx'
import { Form, TextField } from '../ui/forms.tsx'
import { Facts, Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

type CloudState = Awaited<ReturnType<typeof api.value.cloud.get>>
type Settings = Awaited<ReturnType<typeof api.value.settings.get>>
type Conflict = CloudState['conflicts'][number]

/** Shows the state of cloud sync. */
export default function Cloud() {
  const { state, reload } = useData(
    async () => {
      const { cloud, settings, info } = api.value
      const [state, stored, { definedInCode }] = await Promise.all([cloud.get(), settings.get(), info()])
      return { cloud: state, settings: stored, isUrlInCode: definedInCode.settings.includes('cloudUrl') }
    },
    { intervalMs: 10_000 },
  )
  return (
    <>
      <p>Cloud sync copies your configuration to a cloud proxy, which serves the same keys and models.</p>
      <Await of={state.value} onRetry={reload}>
        {({ cloud, settings, isUrlInCode }) => (
          <>
            <CloudFacts {...cloud} />
            <Actions cloud={cloud} settings={settings} isUrlInCode={isUrlInCode} onDone={reload} />
            <Section title="Conflicts">
              <Table
                caption="Conflicts"
                columns={conflictColumns}
                rows={[...cloud.conflicts].reverse()}
                getKey={({ collection, id, at }) => `${collection} ${id} ${at}`}
                empty="No conflicts."
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
        ['Cloud sync', <State kind={kind}>{{ good: 'On', off: 'Off', bad: 'Failing' }[kind]}</State>],
        ['Proxy', cloudUrl || 'None'],
        ['Last sync', lastSuccessAt === null ? 'Never' : <Time time={lastSuccessAt} />],
        ['Lag', lagMs > 0 ? formatDuration(lagMs) : undefined],
        ['Last error', lastError ?? undefined],
      ]}
    />
  )
}

interface ActionsProps {
  cloud: CloudState
  settings: Settings
  /** Whether the proxy's URL is defined in code. */
  isUrlInCode: boolean
  onDone: () => void
}

function Actions({ cloud: { cloudEnabled }, settings, isUrlInCode, onDone }: ActionsProps) {
  const initialSettings = useSignal(settings).peek() // the form's initial values, which later reloads don't change
  const url = useSignal(initialSettings.cloudUrl)
  const enrollmentToken = useSignal('')
  const message = useSignal('')
  const { run, isBusy, error } = useAction(async (action: () => Promise<{ message?: string } | object>) => {
    message.value = ''
    const result = await action()
    if ('message' in result && typeof result.message === 'string') message.value = result.message
    onDone()
  })
  const { cloud } = api.value
  const disabled = isBusy.value
  const enableAction = {
    isBusy,
    error,
    run: () =>
      run(async () => {
        const token = enrollmentToken.value.trim()
        const changes = { cloudUrl: url.value.trim() }
        if (changes.cloudUrl !== initialSettings.cloudUrl)
          await changeRecord(initialSettings, (options) => api.value.settings.update(changes, options), changes)
        return cloud.enable(token === '' ? {} : { enrollmentToken: token })
      }),
  }
  return (
    <>
      {cloudEnabled && <Problem>{error.value}</Problem>}
      <p role="status">{isBusy.value ? 'Loading…' : message.value}</p>
      {cloudEnabled ? (
        <p class="actions">
          <Button writes disabled={disabled} onClick={() => run(() => cloud.sync())}>
            Sync now
          </Button>
          <Button writes disabled={disabled} onClick={() => run(() => cloud.check())}>
            Check proxy
          </Button>
          <Button kind="danger" disabled={disabled} onClick={() => run(() => cloud.disable())}>
            Disable cloud sync
          </Button>
          <span class="hint">Pulls the latest changes from the proxy, then deletes your data and sessions there.</span>
        </p>
      ) : (
        <Form of={enableAction} submit="Enable cloud sync" isRow>
          <Setting inCode={isUrlInCode}>
            <TextField label="Proxy URL" required of={url} />
          </Setting>
          <TextField
            label="Enrollment token"
            hint="Used once and never stored. Leave empty to use the token set in your app."
            type="password"
            of={enrollmentToken}
          />
        </Form>
      )}
    </>
  )
}

const conflictColumns: Column<Conflict>[] = [
  { name: 'Record', cell: ({ collection, id }) => `${collection}: ${id}` },
  { name: 'Kept', cell: ({ kept }) => (kept === 'gateway' ? 'Gateway’s version' : 'Proxy’s version') },
  { name: 'Time', cell: ({ at }) => <Time time={at} /> },
]
