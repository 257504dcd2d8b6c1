import { useId } from 'preact/hooks'
import { type Signal, useAction, useLoaded, useSignal } from '../data.ts'
import { api, changing } from '../session.ts'
import { texts as common } from '../texts/frame.ts'
import { texts } from '../texts/targets.ts'
import { Await, Button, Dialog, Field, NumberField, Problem, SelectField, TextField } from '../ui/basics.tsx'
import type { ShownConnection } from './targets.tsx'

type Provider = Awaited<ReturnType<typeof api.value.providers.list>>['providers'][number]

/** What a provider's address needs, by its cloud. */
const cloudFields = {
  azure: ['resource', 'apiVersion', 'deployment'],
  bedrock: ['region'],
  vertex: ['project', 'region'],
} as const

const FORMATS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const

/** The form as it is typed. */
interface Form {
  provider: string
  name: string
  apiKey: string
  priority: string
  prefix: string
  baseUrl: string
  format: string
  enabledModels: string
  resource: string
  region: string
  project: string
  apiVersion: string
  deployment: string
  discover: boolean
}

interface ConnectionDialogProps {
  connection: ShownConnection | undefined
  onClose: () => void
  onSaved: () => void
}

/** Makes or changes a connection. It asks for what the provider needs, and for nothing else. */
export function ConnectionDialog({ connection, onClose, onSaved }: ConnectionDialogProps) {
  const { state, reload } = useLoaded(async () => (await api.value.providers.list()).providers)
  return (
    <Dialog title={connection ? texts.form.title(connection.name) : texts.form.new} onClose={onClose}>
      <Await of={state.value} onRetry={reload}>
        {(providers) => <ConnectionForm connection={connection} providers={providers} onSaved={onSaved} />}
      </Await>
    </Dialog>
  )
}

function ConnectionForm({
  connection,
  providers,
  onSaved,
}: Omit<ConnectionDialogProps, 'onClose'> & { providers: readonly Provider[] }) {
  const form = useSignal(formOf(connection))
  const { run, isBusy, error } = useAction(async () => {
    const input = inputOf(form.value, connection)
    if (connection)
      await changing(
        connection,
        (client) => client.connections.update(connection.id, input),
        () => api.value.connections.get(connection.id),
      )
    else await api.value.connections.create({ provider: form.value.provider.trim(), ...input })
    onSaved()
  })
  const known = providers.find(({ id }) => id === form.value.provider.trim())
  const cloud = known?.cloud
  const set = (change: Partial<Form>) => {
    form.value = { ...form.value, ...change }
  }
  const needsAddress = !known?.baseUrl && !cloud

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      {!connection && <ProviderField form={form} providers={providers} set={set} />}
      <TextField
        label={texts.form.name}
        value={form.value.name}
        placeholder={known?.name ?? ''}
        onInput={(name) => set({ name })}
      />
      <TextField
        label={texts.form.apiKey}
        hint={connection?.apiKey ? texts.form.apiKeyStored(connection.apiKey.slice(-4)) : texts.form.apiKeyHint}
        type="password"
        value={form.value.apiKey}
        onInput={(apiKey) => set({ apiKey })}
      />
      {cloud &&
        cloudFields[cloud].map((name) => (
          <TextField
            key={name}
            label={texts.form[name]}
            value={form.value[name]}
            onInput={(value) => set({ [name]: value })}
          />
        ))}
      <details open={needsAddress || undefined}>
        <summary>{texts.form.more}</summary>
        <TextField
          label={texts.form.baseUrl}
          hint={texts.form.baseUrlHint}
          placeholder={known?.baseUrl ?? 'https://'}
          value={form.value.baseUrl}
          onInput={(baseUrl) => set({ baseUrl })}
        />
        <div class="row">
          <SelectField
            label={texts.form.format}
            value={form.value.format}
            options={[['', texts.form.formatOwn], ...FORMATS.map((name) => [name, name] as const)]}
            onChange={(format) => set({ format })}
          />
          <TextField label={texts.form.prefix} value={form.value.prefix} onInput={(prefix) => set({ prefix })} />
          <NumberField
            label={texts.form.priority}
            hint={texts.form.priorityHint}
            value={form.value.priority}
            onInput={(priority) => set({ priority })}
          />
        </div>
        <Field label={texts.form.models} hint={texts.form.modelsHint}>
          {(ids) => (
            <textarea
              {...ids}
              rows={3}
              value={form.value.enabledModels}
              onInput={({ currentTarget }) => set({ enabledModels: currentTarget.value })}
            />
          )}
        </Field>
        <label class="check">
          <input
            type="checkbox"
            checked={form.value.discover}
            onChange={({ currentTarget }) => set({ discover: currentTarget.checked })}
          />
          {texts.form.discover}
        </label>
      </details>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <p class="actions">
        <Button kind="primary" type="submit" disabled={isBusy.value}>
          {common.common.save}
        </Button>
      </p>
    </form>
  )
}

function ProviderField({
  form,
  providers,
  set,
}: {
  form: Signal<Form>
  providers: readonly Provider[]
  set: (change: Partial<Form>) => void
}) {
  const list = useId()
  return (
    <>
      <TextField
        label={texts.form.provider}
        hint={texts.form.providerHint}
        required
        list={list}
        value={form.value.provider}
        onInput={(provider) => set({ provider })}
      />
      <datalist id={list}>
        {providers.map(({ id, name }) => (
          <option key={id} value={id}>
            {name ?? id}
          </option>
        ))}
      </datalist>
    </>
  )
}

function formOf(connection: ShownConnection | undefined): Form {
  const data = connection?.providerSpecificData ?? {}
  return {
    provider: connection?.provider ?? '',
    name: connection?.name ?? '',
    apiKey: '',
    priority: connection?.priority === undefined ? '' : String(connection.priority),
    prefix: data.prefix ?? '',
    baseUrl: data.baseUrl ?? '',
    format: data.format ?? '',
    enabledModels: data.enabledModels?.join('\n') ?? '',
    resource: data.resource ?? '',
    region: data.region ?? '',
    project: data.project ?? '',
    apiVersion: data.apiVersion ?? '',
    deployment: data.deployment ?? '',
    discover: false,
  }
}

/** What is sent: of an existing connection its other data stays as it is. */
function inputOf(form: Form, connection: ShownConnection | undefined) {
  const texted = ['prefix', 'baseUrl', 'format', 'resource', 'region', 'project', 'apiVersion', 'deployment'] as const
  const data: Record<string, unknown> = { ...connection?.providerSpecificData }
  for (const name of texted) {
    const value = form[name].trim()
    if (value === '') delete data[name]
    else data[name] = value
  }
  const models = form.enabledModels
    .split(/[\n,]/)
    .map((id) => id.trim())
    .filter(Boolean)
  if (models.length > 0) data.enabledModels = models
  else delete data.enabledModels
  const priority = form.priority.trim() === '' ? null : Number(form.priority)
  return {
    ...(form.name.trim() !== '' && { name: form.name.trim() }),
    ...(form.apiKey.trim() !== '' && { apiKey: form.apiKey.trim() }),
    ...((connection || priority !== null) && { priority }),
    ...((connection || Object.keys(data).length > 0) && { providerSpecificData: data }),
    ...(form.discover && { discover: true }),
  }
}
