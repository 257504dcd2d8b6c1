import { useEffect, useRef } from 'preact/hooks'
import { parseObject } from '../../../../client/send.ts'
import { useData, useSignal } from '../page-data.ts'
import { escapeInvisible, formatDuration, formatMoney } from '../page-format.ts'
import {
  buildRequest,
  codeSamples,
  extractImages,
  extractOutput,
  type FormatName,
  formatLabels,
  formats,
  getField,
} from '../playground-formats.ts'
import { buildLink } from '../route.ts'
import { api, gatewayUrl, getAuthHeaders, getMessage, getUrl, trackedFetch } from '../session.ts'
import { Button, Problem } from '../ui/basics.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Form, SelectField, Suggestions, TextArea, TextField, toChoices } from '../ui/forms.tsx'
import { Facts } from '../ui/sections.tsx'

/** A request's progress. All strings are untrusted and rendered only as text. */
interface Progress {
  phase: 'waiting' | 'answering' | 'ended' | 'stopped'
  text: string
  raw: string
  /** Data URLs. */
  images: readonly string[]
  audioUrl?: string
  startedAt: number
  firstMs?: number
  endedMs?: number
  error?: string
  facts: ReadonlyArray<readonly [name: string, value: string]>
  id?: string
}

/** Sends a request as a client would and shows the response as text and in raw form. */
export default function Playground() {
  const format = useSignal<FormatName>('chat')
  const model = useSignal('')
  const asKey = useSignal('')
  const body = useSignal(getInitialBody('chat'))
  const problem = useSignal<string | undefined>(undefined)
  const progress = useSignal<Progress | undefined>(undefined)
  const controller = useRef<AbortController | undefined>(undefined)
  const file = useSignal<File | undefined>(undefined)
  const { state } = useData(load)
  const { keys = [], models = [] } = state.value.value ?? {}
  const isInProgress = progress.value?.phase === 'waiting' || progress.value?.phase === 'answering'
  useEffect(() => () => controller.current?.abort(), [])

  /** The selected format. Changing it replaces the body, unless the user has edited the body. */
  const boundFormat = {
    get value() {
      return format.value
    },
    set value(name) {
      if (body.value === getInitialBody(format.value)) body.value = getInitialBody(name)
      format.value = name
    },
  }

  async function send() {
    const parsedBody = parseObject(body.value)
    const needsAudio = format.value === 'transcription'
    problem.value = !parsedBody
      ? 'Enter a JSON object.'
      : needsAudio && !file.value
        ? 'Choose a file first.'
        : undefined
    if (!parsedBody || problem.value || isInProgress) return
    const audio = needsAudio && file.value && { audio: await readBase64(file.value), mediaType: file.value.type }
    const request = buildRequest(format.value, model.value.trim(), { ...parsedBody, ...audio })
    const abortController = new AbortController()
    controller.current = abortController
    await sendRequest(
      { ...request, ...(asKey.value !== '' && { asKey: asKey.value }) },
      { signal: abortController.signal, onProgress: (change) => updateProgress(change, abortController) },
    )
  }

  function updateProgress(change: Partial<Progress>, abortController: AbortController) {
    const previous = progress.peek()
    if (controller.current === abortController)
      progress.value = { ...(change.phase === 'waiting' || !previous ? INITIAL_PROGRESS : previous), ...change }
  }

  return (
    <>
      <p class="hint">Sends a real request to a model. It’s billed like any other request.</p>
      <Form
        of={{ run: send, isBusy: { value: isInProgress }, error: { value: undefined } }}
        submit="Send"
        beside={
          <Button disabled={!isInProgress} onClick={() => controller.current?.abort()}>
            Stop
          </Button>
        }
      >
        <div class="row">
          <SelectField label="API format" of={boundFormat} options={toChoices(formatLabels)} />
          <TextField label="Model, combo, or alias" required list="models" of={model} />
          <SelectField
            label="Send as"
            of={asKey}
            options={[['', 'You (no API key)'], ...keys.map(({ id, name }) => [id, name] as const)]}
          />
        </div>
        <Suggestions id="models" of={models} />
        {format.value === 'transcription' && (
          <label class="field">
            Audio to transcribe
            <input
              type="file"
              accept="audio/*,video/*"
              onChange={({ currentTarget }) => (file.value = currentTarget.files?.[0])}
            />
          </label>
        )}
        <TextArea
          label="Request body"
          hint="JSON. The model is added automatically."
          error={problem.value}
          rows={9}
          class="mono"
          of={body}
        />
      </Form>
      <details>
        <summary>View code</summary>
        {codeSamples.map(({ name, code }) => {
          const text = code({
            url: gatewayUrl,
            format: format.value,
            model: model.value.trim(),
            body: parseObject(body.value) ?? {},
          })
          return (
            text !== undefined && (
              <div key={name} class="row">
                <pre class="grow">{text}</pre>
                <CopyButton label={`Copy ${name}`} text={text} />
              </div>
            )
          )
        })}
      </details>
      <Problem>{state.value.error}</Problem>
      {progress.value && <ResponseView progress={progress.value} />}
    </>
  )
}

const INITIAL_PROGRESS: Progress = { phase: 'waiting', text: '', raw: '', images: [], startedAt: 0, facts: [] }

const getInitialBody = (format: FormatName) => JSON.stringify(formats[format].body, null, 2)

async function load() {
  const [{ keys }, { data }] = await Promise.all([
    api.value.keys.list({ values: 'none', limit: 1_000 }),
    api.value.models.published(),
  ])
  return { keys, models: data.map(({ id }) => id) }
}

const readBase64 = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^.*?,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

function ResponseView({ progress }: { progress: Progress }) {
  const { phase, text, raw, images, audioUrl, error, facts, id, firstMs, endedMs = 0 } = progress
  useEffect(() => () => audioUrl && URL.revokeObjectURL(audioUrl), [audioUrl])
  const phaseLabels = {
    waiting: 'Waiting for a response…',
    answering: 'Receiving the response…',
    ended: `Finished in ${formatDuration(endedMs)}.`,
    stopped: 'Stopped.',
  }
  return (
    <>
      <p role="status">{phaseLabels[phase]}</p>
      <Problem>{error}</Problem>
      {images.map((src) => (
        <img key={src} class="made" src={src} alt="Output of the model" />
      ))}
      {audioUrl !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: the text above is its transcript
        <audio controls src={audioUrl} aria-label="Generated audio" />
      )}
      <div class="row panes">
        <Pane label="Output" text={text} />
        <Pane label="Raw response" text={raw} />
      </div>
      <Facts
        of={[
          ...facts,
          ['Time to first token', firstMs === undefined ? undefined : formatDuration(firstMs)],
          ['Request', id && <a href={buildLink('requests', id)}>{escapeInvisible(id)}</a>],
        ]}
      />
    </>
  )
}

/** Renders a read-only field with plain text. */
const Pane = ({ label, text }: { label: string; text: string }) => (
  <TextArea label={label} class="mono" rows={14} readOnly of={{ value: text }} />
)

/** Sends a request and reports its progress. Never rejects. */
async function sendRequest(
  input: { path: string; body: object; headers?: Record<string, string>; asKey?: string },
  { signal, onProgress }: { signal: AbortSignal; onProgress: (change: Partial<Progress>) => void },
): Promise<void> {
  const startedAt = Date.now()
  const getElapsedMs = () => Date.now() - startedAt
  onProgress({ phase: 'waiting', startedAt })
  try {
    const response = await trackedFetch(getUrl('api/try'), {
      method: 'POST',
      headers: { ...getAuthHeaders(), 'content-type': 'application/json' },
      body: JSON.stringify(input),
      signal,
    })
    const id = response.headers.get('x-signalbox-request-id') ?? undefined
    onProgress({ phase: 'answering', facts: getHeaderFacts(response), ...(id !== undefined && { id }) })
    const failure = await readResponse(response, { getElapsedMs, onProgress })
    onProgress({ phase: 'ended', endedMs: getElapsedMs(), ...(!response.ok && { error: failure }) })
    if (id !== undefined) onProgress({ facts: await loadRecordFacts(id, getHeaderFacts(response)) })
  } catch (error) {
    if (signal.aborted) onProgress({ phase: 'stopped' })
    else onProgress({ phase: 'ended', endedMs: getElapsedMs(), error: getMessage(error) })
  }
}

/** Reads a response to its end. Resolves to the error message, if any. */
async function readResponse(
  response: Response,
  { getElapsedMs, onProgress }: { getElapsedMs: () => number; onProgress: (change: Partial<Progress>) => void },
): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('audio/')) {
    const blob = await response.blob()
    onProgress({ raw: `${type}, ${blob.size} bytes`, audioUrl: URL.createObjectURL(blob) })
    return ''
  }
  const isStream = type.startsWith('text/event-stream')
  let output = ''
  let raw = ''
  let buffer = ''
  let failure = ''
  const handleData = (data: string) => {
    const value: unknown = JSON.parse(data)
    const error = getField(value, 'error')
    if (error) failure = String(getField(error, 'message') ?? error)
    const images = extractImages(value)
    if (images.length > 0) onProgress({ images })
    const outputText = extractOutput(value)
    if (outputText !== '' && output === '') onProgress({ firstMs: getElapsedMs() })
    output += sanitizeLines(outputText)
  }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
    buffer += chunk.value
    if (!isStream) continue
    raw += sanitizeLines(chunk.value)
    const events = buffer.split(/\r?\n\r?\n/)
    buffer = events.pop() ?? ''
    for (const event of events) {
      const data = event.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
      if (data.length > 0 && data[0] !== '[DONE]') handleData(data.join('\n'))
    }
    onProgress({ text: output, raw })
  }
  if (!isStream && buffer !== '') {
    raw = sanitizeLines(indent(buffer))
    handleData(buffer)
    onProgress({ text: output, raw })
  } else if (failure !== '') onProgress({ error: failure })
  return failure
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const sanitizeLines = (text: string) => text.split('\n').map(escapeInvisible).join('\n')

function getHeaderFacts({ status, headers }: Response): Array<readonly [string, string]> {
  const facts = {
    'Served by': headers.get('x-signalbox-target'),
    Attempts: headers.get('x-signalbox-attempts'),
    Warnings: headers.get('x-signalbox-warning'),
    Cost: formatCost(headers.get('x-signalbox-cost')),
  }
  return [
    ['Status', `${status}`],
    ...Object.entries(facts).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
  ]
}

const formatCost = (cost: string | null) => (cost === null ? null : formatMoney(Number(cost)))

/** Adds facts from the usage record: the cost of a stream and all attempts. */
async function loadRecordFacts(id: string, facts: ReadonlyArray<readonly [string, string]>) {
  const record = await api.value.usage.request(id).catch(() => undefined) // fails if the gateway doesn't store usage
  if (!record) return facts
  const { costUsd, tokens, attempts, warnings = [] } = record.request
  const recordFacts: Record<string, string> = {}
  if (costUsd !== undefined || tokens) recordFacts.Cost = costUsd === undefined ? 'Unknown' : formatMoney(costUsd)
  if (warnings.length > 0) recordFacts.Warnings = warnings.join(', ')
  if (attempts.length > 0)
    recordFacts.Attempts = attempts
      .map(({ provider, model, status, durationMs }) => `${provider}/${model} ${status}, ${formatDuration(durationMs)}`)
      .join('; ')
  return [...facts.filter(([name]) => !Object.hasOwn(recordFacts, name)), ...Object.entries(recordFacts)]
}
