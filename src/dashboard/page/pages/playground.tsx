import { useEffect, useRef } from 'preact/hooks'
import { objectIn } from '../../../client/send.ts'
import { useLoaded, useSignal } from '../data.ts'
import { duration, escaped, money } from '../format.ts'
import { codes, type FormatName, formats, imagesIn, memberOf, requestFor, saidIn } from '../playground-formats.ts'
import { linkTo } from '../route.ts'
import { addressOf, api, credentials, gatewayUrl, messageOf, watchedFetch } from '../session.ts'
import * as texts from '../texts/playground.ts'
import { Button, Problem } from '../ui/basics.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { choicesOf, Form, SelectField, Suggestions, TextArea, TextField } from '../ui/forms.tsx'
import { Facts } from '../ui/sections.tsx'

/** What has come of a request so far. All of it is text of others, which is shown as text alone. */
interface Course {
  phase: 'waiting' | 'answering' | 'ended' | 'stopped'
  said: string
  raw: string
  /** Addresses that hold them. */
  images: readonly string[]
  sound?: string
  startedAt: number
  firstMs?: number
  endedMs?: number
  error?: string
  facts: ReadonlyArray<readonly [name: string, value: string]>
  id?: string
}

/** Asks a model as a client would, and shows the answer as text and as it was sent. */
export default function Playground() {
  const format = useSignal<FormatName>('chat')
  const model = useSignal('')
  const asKey = useSignal('')
  const body = useSignal(bodyOf('chat'))
  const problem = useSignal<string | undefined>(undefined)
  const course = useSignal<Course | undefined>(undefined)
  const asking = useRef<AbortController | undefined>(undefined)
  const file = useSignal<File | undefined>(undefined)
  const { state } = useLoaded(load)
  const { keys = [], models = [] } = state.value.value ?? {}
  const isUnderWay = course.value?.phase === 'waiting' || course.value?.phase === 'answering'
  useEffect(() => () => asking.current?.abort(), [])

  /** A body changes with the format until it is edited. */
  const chosen = {
    get value() {
      return format.value
    },
    set value(name) {
      if (body.value === bodyOf(format.value)) body.value = bodyOf(name)
      format.value = name
    },
  }

  async function ask() {
    const given = objectIn(body.value)
    const hears = format.value === 'transcription'
    problem.value = !given ? texts.noObject : hears && !file.value ? texts.noFile : undefined
    if (!given || problem.value || isUnderWay) return
    const sound = hears && file.value && { audio: await base64Of(file.value), mediaType: file.value.type }
    const made = requestFor(format.value, model.value.trim(), { ...given, ...sound })
    const stop = new AbortController()
    asking.current = stop
    await follow(
      { ...made, ...(asKey.value !== '' && { asKey: asKey.value }) },
      { signal: stop.signal, note: (change) => note(change, stop) },
    )
  }

  function note(change: Partial<Course>, stop: AbortController) {
    const before = course.peek()
    if (asking.current === stop)
      course.value = { ...(change.phase === 'waiting' || !before ? NOTHING : before), ...change }
  }

  return (
    <>
      <p class="hint">{texts.hint}</p>
      <Form
        of={{ run: ask, isBusy: { value: isUnderWay }, error: { value: undefined } }}
        submit={texts.ask}
        beside={
          <Button disabled={!isUnderWay} onClick={() => asking.current?.abort()}>
            {texts.stop}
          </Button>
        }
      >
        <div class="row">
          <SelectField label={texts.format} of={chosen} options={choicesOf(texts.formats)} />
          <TextField label={texts.model} required list="models" of={model} />
          <SelectField
            label={texts.as}
            of={asKey}
            options={[['', texts.operator], ...keys.map(({ id, name }) => [id, name] as const)]}
          />
        </div>
        <Suggestions id="models" of={models} />
        {format.value === 'transcription' && (
          <label class="field">
            {texts.file}
            <input
              type="file"
              accept="audio/*,video/*"
              onChange={({ currentTarget }) => (file.value = currentTarget.files?.[0])}
            />
          </label>
        )}
        <TextArea label={texts.body} hint={texts.bodyHint} error={problem.value} rows={9} class="mono" of={body} />
      </Form>
      <details>
        <summary>{texts.code}</summary>
        {codes.map(({ name, code }) => {
          const text = code({
            url: gatewayUrl,
            format: format.value,
            model: model.value.trim(),
            body: objectIn(body.value) ?? {},
          })
          return (
            text !== undefined && (
              <div key={name} class="row">
                <pre class="grow">{text}</pre>
                <CopyButton label={texts.copyCode(name)} text={text} />
              </div>
            )
          )
        })}
      </details>
      <Problem>{state.value.error}</Problem>
      {course.value && <Answer course={course.value} />}
    </>
  )
}

const NOTHING: Course = { phase: 'waiting', said: '', raw: '', images: [], startedAt: 0, facts: [] }

const bodyOf = (format: FormatName) => JSON.stringify(formats[format].body, null, 2)

async function load() {
  const [{ keys }, { data }] = await Promise.all([
    api.value.keys.list({ values: 'none', limit: 1_000 }),
    api.value.models.published(),
  ])
  return { keys, models: data.map(({ id }) => id) }
}

/** What a file holds, in base64. */
const base64Of = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^.*?,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

function Answer({ course }: { course: Course }) {
  const { phase, said, raw, images, sound, error, facts, id, firstMs, endedMs = 0 } = course
  useEffect(() => () => sound && URL.revokeObjectURL(sound), [sound])
  const words = {
    waiting: texts.waiting,
    answering: texts.answering,
    ended: texts.ended(duration(endedMs)),
    stopped: texts.stopped,
  }
  return (
    <>
      <p role="status">{words[phase]}</p>
      <Problem>{error}</Problem>
      {images.map((src) => (
        <img key={src} class="made" src={src} alt={texts.image} />
      ))}
      {sound !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: it was made of the text above
        <audio controls src={sound} aria-label={texts.sound} />
      )}
      <div class="row panes">
        <Pane label={texts.said} text={said} />
        <Pane label={texts.raw} text={raw} />
      </div>
      <Facts
        of={[
          ...facts,
          [texts.factFirst, firstMs === undefined ? undefined : duration(firstMs)],
          [texts.factRequest, id && <a href={linkTo('requests', id)}>{escaped(id)}</a>],
        ]}
      />
    </>
  )
}

/** A field that only shows: its text can become nothing else. */
const Pane = ({ label, text }: { label: string; text: string }) => (
  <TextArea label={label} class="mono" rows={14} readOnly of={{ value: text }} />
)

/** Makes a request and notes what becomes of it. Never rejects. */
async function follow(
  input: { path: string; body: object; headers?: Record<string, string>; asKey?: string },
  { signal, note }: { signal: AbortSignal; note: (change: Partial<Course>) => void },
): Promise<void> {
  const startedAt = Date.now()
  const passed = () => Date.now() - startedAt
  note({ phase: 'waiting', startedAt })
  try {
    const response = await watchedFetch(addressOf('api/try'), {
      method: 'POST',
      headers: { ...credentials(), 'content-type': 'application/json' },
      body: JSON.stringify(input),
      signal,
    })
    const id = response.headers.get('x-signalbox-request-id') ?? undefined
    note({ phase: 'answering', facts: headerFacts(response), ...(id !== undefined && { id }) })
    const said = await readAnswer(response, { passed, note })
    note({ phase: 'ended', endedMs: passed(), ...(!response.ok && { error: said }) })
    if (id !== undefined) note({ facts: await keptFacts(id, headerFacts(response)) })
  } catch (error) {
    if (signal.aborted) note({ phase: 'stopped' })
    else note({ phase: 'ended', endedMs: passed(), error: messageOf(error) })
  }
}

/** Reads an answer to its end; resolves to the message of an error. */
async function readAnswer(
  response: Response,
  { passed, note }: { passed: () => number; note: (change: Partial<Course>) => void },
): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('audio/')) {
    const blob = await response.blob()
    note({ raw: `${type}, ${blob.size} bytes`, sound: URL.createObjectURL(blob) })
    return ''
  }
  const isStream = type.startsWith('text/event-stream')
  let said = ''
  let raw = ''
  let text = ''
  let failure = ''
  const take = (data: string) => {
    const value: unknown = JSON.parse(data)
    const error = memberOf(value, 'error')
    if (error) failure = String(memberOf(error, 'message') ?? error)
    const images = imagesIn(value)
    if (images.length > 0) note({ images })
    const words = saidIn(value)
    if (words !== '' && said === '') note({ firstMs: passed() })
    said += lines(words)
  }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
    text += chunk.value
    if (!isStream) continue
    raw += lines(chunk.value)
    const events = text.split(/\r?\n\r?\n/)
    text = events.pop() ?? ''
    for (const event of events) {
      const data = event.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
      if (data.length > 0 && data[0] !== '[DONE]') take(data.join('\n'))
    }
    note({ said, raw })
  }
  if (!isStream && text !== '') {
    raw = lines(indented(text))
    take(text)
    note({ said, raw })
  } else if (failure !== '') note({ error: failure })
  return failure
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** A text of several lines, of which each is safe to show. */
const lines = (text: string) => text.split('\n').map(escaped).join('\n')

function headerFacts({ status, headers }: Response): Array<readonly [string, string]> {
  const named = {
    [texts.factTarget]: headers.get('x-signalbox-target'),
    [texts.factAttempts]: headers.get('x-signalbox-attempts'),
    [texts.factWarnings]: headers.get('x-signalbox-warning'),
    [texts.factCost]: costOf(headers.get('x-signalbox-cost')),
  }
  return [
    [texts.factStatus, `${status}`],
    ...Object.entries(named).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
  ]
}

const costOf = (cost: string | null) => (cost === null ? null : money(Number(cost)))

/** With what is known once the answer has ended: what a stream has cost, and all attempts. */
async function keptFacts(id: string, known: ReadonlyArray<readonly [string, string]>) {
  const kept = await api.value.usage.request(id).catch(() => undefined) // the gateway may keep none
  if (!kept) return known
  const { costUsd, tokens, attempts, warnings = [] } = kept.request
  const later: Record<string, string> = {}
  if (costUsd !== undefined || tokens)
    later[texts.factCost] = costUsd === undefined ? texts.unknownCost : money(costUsd)
  if (warnings.length > 0) later[texts.factWarnings] = warnings.join(', ')
  if (attempts.length > 0)
    later[texts.factAttempts] = attempts
      .map(({ provider, model, status, durationMs }) => `${provider}/${model} ${status}, ${duration(durationMs)}`)
      .join('; ')
  return [...known.filter(([name]) => !Object.hasOwn(later, name)), ...Object.entries(later)]
}
