import { useId } from 'preact/hooks'
import type { WireFormat } from '../../../../types/catalog-types.ts'
import { useAction, useData, useSignal } from '../page-data.ts'
import { splitList } from '../page-format.ts'
import { api, changeRecord } from '../session.ts'
import { Await } from '../ui/basics.tsx'
import {
  bindField,
  CheckField,
  Form,
  NumberField,
  SelectField,
  Suggestions,
  TextArea,
  TextField,
  toChoices,
} from '../ui/forms.tsx'
import { fromPairs, type Pair, PairFields, readTag, toPairs } from '../ui/pair-fields.tsx'
import { Dialog } from '../ui/sections.tsx'
import { type CachingChoice, CachingField, fromCachingChoice, toCachingChoice } from './caching-field.tsx'
import { type PriceRow, PriceRows, toPriceRows, toPrices } from './price-rows.tsx'
import type { ConnectionView } from './targets.tsx'

type Provider = Awaited<ReturnType<typeof api.value.providers.list>>['providers'][number]

/** The fields that make up a cloud provider's URL, by cloud. */
const cloudFields = {
  azure: ['resource', 'apiVersion', 'deployment'],
  bedrock: ['region'],
  vertex: ['project', 'region'],
} as const

const cloudLabels = {
  resource: 'Resource',
  region: 'Region',
  project: 'Project',
  apiVersion: 'API version',
  deployment: 'Deployment',
} as const

const formatLabels: Readonly<Record<WireFormat, string>> = {
  'openai-chat': 'OpenAI Chat Completions',
  'openai-responses': 'OpenAI Responses',
  'anthropic-messages': 'Anthropic Messages',
  gemini: 'Gemini',
}

/** The text fields in a connection's provider data. */
const TEXT_FIELDS = [
  'prefix',
  'baseUrl',
  'format',
  'resource',
  'region',
  'project',
  'apiVersion',
  'deployment',
] as const

interface ConnectionState
  extends Record<(typeof TEXT_FIELDS)[number] | 'provider' | 'name' | 'apiKey' | 'priority' | 'enabledModels', string> {
  discover: boolean
  promptCaching: CachingChoice
  tags: Pair[]
  prices: PriceRow[]
}

interface ConnectionDialogProps {
  connection: ConnectionView | undefined
  onClose: () => void
  onSaved: () => void
}

/** Renders a form that creates or edits a connection. Shows only the fields that the provider needs. */
export function ConnectionDialog({ connection, onClose, onSaved }: ConnectionDialogProps) {
  const { state, reload } = useData(async () => (await api.value.providers.list()).providers)
  return (
    <Dialog title={connection ? `Edit connection "${connection.name}"` : 'Add connection'} onClose={onClose}>
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
  const form = useSignal<ConnectionState>(toFormState(connection))
  const saveAction = useAction(async () => {
    const input = toInput(form.value, connection)
    if (connection)
      await changeRecord(connection, (options) => api.value.connections.update(connection.id, input, options), input)
    else await api.value.connections.create({ provider: form.value.provider.trim(), ...input })
    onSaved()
  })
  const provider = providers.find(({ id }) => id === form.value.provider.trim())
  const cloud = provider?.cloud
  const listId = useId()
  const needsBaseUrl = !provider?.baseUrl && !cloud

  return (
    <Form of={saveAction} submit={connection ? 'Save' : 'Add connection'}>
      {!connection && (
        <>
          <TextField
            label="Provider"
            path="provider"
            hint="Choose a provider, or enter any name and a base URL."
            required
            list={listId}
            of={bindField(form, 'provider')}
          />
          <Suggestions id={listId} of={providers.map(({ id, name = id }) => [id, name] as const)} />
        </>
      )}
      <TextField label="Name" path="name" placeholder={provider?.name ?? ''} of={bindField(form, 'name')} />
      <TextField
        label="API key"
        path="apiKey"
        hint={
          connection?.apiKey
            ? `The stored key ends in ${connection.apiKey.slice(-4)}. Leave empty to keep it.`
            : 'Stored encrypted and sent only to the provider.'
        }
        type="password"
        of={bindField(form, 'apiKey')}
      />
      {cloud &&
        cloudFields[cloud].map((name) => (
          <TextField
            key={name}
            label={cloudLabels[name]}
            path={`providerSpecificData.${name}`}
            of={bindField(form, name)}
          />
        ))}
      <details open={needsBaseUrl || undefined}>
        <summary>Base URL, format, and models</summary>
        <TextField
          label="Base URL"
          path="providerSpecificData.baseUrl"
          hint="API base URL, including the version, such as https://llm.example/v1. Leave empty for the provider’s default."
          placeholder={provider?.baseUrl ?? 'https://'}
          of={bindField(form, 'baseUrl')}
        />
        <div class="row">
          <SelectField
            label="API format"
            path="providerSpecificData.format"
            of={bindField(form, 'format')}
            options={[['', 'Provider default'], ...toChoices(formatLabels)]}
          />
          <TextField label="Model prefix" path="providerSpecificData.prefix" of={bindField(form, 'prefix')} />
          <NumberField
            label="Priority"
            path="priority"
            hint="Lower numbers are tried first."
            of={bindField(form, 'priority')}
          />
        </div>
        <TextArea
          label="Models"
          path="providerSpecificData.enabledModels"
          hint="Model IDs, separated by commas or line breaks. Leave empty to use the models in the catalog."
          rows={3}
          of={bindField(form, 'enabledModels')}
        />
        <CachingField of={bindField(form, 'promptCaching')} inherited="As the settings say" />
        <CheckField label="Fetch the model list from the server when saving" of={bindField(form, 'discover')} />
      </details>
      <details open={form.peek().prices.length > 0 || undefined}>
        <summary>Prices</summary>
        <p class="hint">In USD per million tokens. These override the catalog’s prices for this connection.</p>
        <PriceRows of={bindField(form, 'prices')} />
      </details>
      <PairFields title="Tags" path="tags" of={bindField(form, 'tags')} />
    </Form>
  )
}

function toFormState(connection: ConnectionView | undefined): ConnectionState {
  const { provider = '', name = '', priority = '', providerSpecificData: data = {} } = connection ?? {}
  const textValues = TEXT_FIELDS.map((field) => [field, data[field] ?? ''] as const)
  return {
    ...(Object.fromEntries(textValues) as Record<(typeof TEXT_FIELDS)[number], string>), // with exactly the names in `TEXT_FIELDS`
    provider,
    name,
    apiKey: '',
    priority: String(priority),
    enabledModels: data.enabledModels?.join('\n') ?? '',
    discover: false,
    promptCaching: toCachingChoice(connection?.promptCaching),
    tags: toPairs(connection?.tags),
    prices: toPriceRows(connection?.prices),
  }
}

/** Builds the request body. Preserves the parts of an existing connection's data that have no form field. */
function toInput(form: ConnectionState, connection: ConnectionView | undefined) {
  const models = splitList(form.enabledModels)
  const textEntries = TEXT_FIELDS.map((name) => [name, form[name].trim() || undefined])
  const data: Record<string, unknown> = {
    ...connection?.providerSpecificData,
    ...Object.fromEntries(textEntries),
    enabledModels: models.length > 0 ? models : undefined,
  }
  const [name, apiKey, priority] = [form.name.trim(), form.apiKey.trim(), form.priority.trim()]
  return {
    ...(name !== '' && { name }),
    ...(apiKey !== '' && { apiKey }),
    priority: priority === '' ? null : Number(priority),
    ...((connection || Object.values(data).some((value) => value !== undefined)) && { providerSpecificData: data }),
    ...((connection?.prices || form.prices.length > 0) && { prices: toPrices(form.prices) }),
    tags: fromPairs(form.tags, readTag),
    promptCaching: fromCachingChoice(form.promptCaching),
    ...(form.discover && { discover: true }),
  }
}
