import { useId } from 'preact/hooks'
import { wireFormats } from '../../../types/unions.ts'
import { useAction, useLoaded, useSignal } from '../data.ts'
import { listed } from '../format.ts'
import { api, changing } from '../session.ts'
import * as texts from '../texts/targets.ts'
import { Await } from '../ui/basics.tsx'
import { CheckField, Form, NumberField, part, SelectField, Suggestions, TextArea, TextField } from '../ui/forms.tsx'
import { Dialog } from '../ui/sections.tsx'
import type { ShownConnection } from './targets.tsx'

type Provider = Awaited<ReturnType<typeof api.value.providers.list>>['providers'][number]

/** What a provider's address needs, by its cloud. */
const cloudFields = {
  azure: ['resource', 'apiVersion', 'deployment'],
  bedrock: ['region'],
  vertex: ['project', 'region'],
} as const

/** What is stored of a connection's provider as text. */
const TEXTED = ['prefix', 'baseUrl', 'format', 'resource', 'region', 'project', 'apiVersion', 'deployment'] as const

/** The form as it is typed. */
interface Typed
  extends Record<(typeof TEXTED)[number] | 'provider' | 'name' | 'apiKey' | 'priority' | 'enabledModels', string> {
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
  const form = useSignal<Typed>(formOf(connection))
  const saving = useAction(async () => {
    const input = inputOf(form.value, connection)
    if (connection)
      await changing(connection, (options) => api.value.connections.update(connection.id, input, options), input)
    else await api.value.connections.create({ provider: form.value.provider.trim(), ...input })
    onSaved()
  })
  const known = providers.find(({ id }) => id === form.value.provider.trim())
  const cloud = known?.cloud
  const list = useId()
  const needsAddress = !known?.baseUrl && !cloud

  return (
    <Form of={saving}>
      {!connection && (
        <>
          <TextField
            label={texts.form.provider}
            hint={texts.form.providerHint}
            required
            list={list}
            of={part(form, 'provider')}
          />
          <Suggestions id={list} of={providers.map(({ id, name = id }) => [id, name] as const)} />
        </>
      )}
      <TextField label={texts.form.name} placeholder={known?.name ?? ''} of={part(form, 'name')} />
      <TextField
        label={texts.form.apiKey}
        hint={connection?.apiKey ? texts.form.apiKeyStored(connection.apiKey.slice(-4)) : texts.form.apiKeyHint}
        type="password"
        of={part(form, 'apiKey')}
      />
      {cloud &&
        cloudFields[cloud].map((name) => <TextField key={name} label={texts.form[name]} of={part(form, name)} />)}
      <details open={needsAddress || undefined}>
        <summary>{texts.form.more}</summary>
        <TextField
          label={texts.form.baseUrl}
          hint={texts.form.baseUrlHint}
          placeholder={known?.baseUrl ?? 'https://'}
          of={part(form, 'baseUrl')}
        />
        <div class="row">
          <SelectField
            label={texts.form.format}
            of={part(form, 'format')}
            options={[['', texts.form.formatOwn], ...wireFormats]}
          />
          <TextField label={texts.form.prefix} of={part(form, 'prefix')} />
          <NumberField label={texts.form.priority} hint={texts.form.priorityHint} of={part(form, 'priority')} />
        </div>
        <TextArea label={texts.form.models} hint={texts.form.modelsHint} rows={3} of={part(form, 'enabledModels')} />
        <CheckField label={texts.form.discover} of={part(form, 'discover')} />
      </details>
    </Form>
  )
}

function formOf(connection: ShownConnection | undefined): Typed {
  const { provider = '', name = '', priority = '', providerSpecificData: data = {} } = connection ?? {}
  const texted = TEXTED.map((one) => [one, data[one] ?? ''] as const)
  return {
    ...(Object.fromEntries(texted) as Record<(typeof TEXTED)[number], string>), // of these names
    provider,
    name,
    apiKey: '',
    priority: String(priority),
    enabledModels: data.enabledModels?.join('\n') ?? '',
    discover: false,
  }
}

/** What is sent: of an existing connection its other data stays as it is. */
function inputOf(form: Typed, connection: ShownConnection | undefined) {
  const models = listed(form.enabledModels)
  const own = TEXTED.map((name) => [name, form[name].trim() || undefined])
  const data: Record<string, unknown> = {
    ...connection?.providerSpecificData,
    ...Object.fromEntries(own),
    enabledModels: models.length > 0 ? models : undefined,
  }
  const [name, apiKey, priority] = [form.name.trim(), form.apiKey.trim(), form.priority.trim()]
  return {
    ...(name !== '' && { name }),
    ...(apiKey !== '' && { apiKey }),
    ...((connection || priority !== '') && { priority: priority === '' ? null : Number(priority) }),
    ...((connection || Object.values(data).some((value) => value !== undefined)) && { providerSpecificData: data }),
    ...(form.discover && { discover: true }),
  }
}
