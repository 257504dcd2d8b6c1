import { gatewayError } from '../errors.ts'
import { createResponseWarnings, type Warnings } from '../formats/canonical/warnings.ts'
import { embeddedError } from '../formats/errors/embedded.ts'
import { type AnswerReader, newStreamProgress, saidIn, wholeAnswers } from '../formats/format.ts'
import { concatBytes, encodeUtf8 } from '../lib/bytes.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { withMembers } from '../lib/json-scan.ts'
import { type FormPart, writeForm } from '../lib/multipart.ts'
import { eventText, type SseEvent } from '../lib/sse.ts'
import type { ProviderTarget } from '../providers/target.ts'
import type {
  Carried,
  CarriedPart,
  CarriedStream,
  ClientForm,
  ClientStream,
  FormsOfKind,
  KindCall,
  KindForms,
  PassedForm,
  Used,
  VendorContext,
  VendorForm,
  VendorRequest,
  VendorStream,
  WriteTerms,
} from './forms.ts'

/** The first of the entries of a part, and the one behind its last. */
type EntryRange = readonly [start: number, end: number]

/** Makes the forms of a kind ready for requests. The code is the same for all kinds. */
export function kindForms<Asked, Given extends Used, Piece = never>(
  forms: FormsOfKind<Asked, Given, Piece>,
): KindForms {
  const { clients, vendors, otherwise, division, config, countsTokens, usageOf, complete, priced } = forms
  const said = countsTokens ? saidIn() : undefined // it sends no words, but has got some

  return {
    clients: Object.keys(clients),
    vendors: [...vendors, otherwise].map(({ name }) => name),
    addresses(call, target) {
      if (!forms.addresses || !vendorOf(target).readsNoAddresses) return []
      return forms.addresses(askedOf(call, call.warningsFor(clientOf(call).fieldNames)))
    },
    carry(call, target) {
      const client = clientOf(call)
      const vendor = vendorOf(target)
      const warnings = call.warningsFor(client.fieldNames)
      const asked = askedOf(call, warnings)
      const context = { target, warnings, body: call.body, form: call.form, fetched: call.fetched }
      const divided = partsOf(asked, vendor.most?.(target))
      const isDivided = divided.length > 1
      const passed = passedFor(vendor, { client: call.client, asked, target, isDivided })
      const lost = createResponseWarnings()
      const terms = (model: string): WriteTerms<Asked> => ({
        ...{ asked, lost, provider: target.provider, model, now: call.now(), newId: call.newId },
        losses: warnings.list,
        describe: call.describe,
      })
      const written = () => client.stream?.(asked, terms(target.model))
      const made = () => (passed ? passed.stream?.(asked) : vendor.stream?.(asked, target))
      const own = isDivided ? undefined : made()
      const stream = own && streamOf(own.of, made, passed ? undefined : written)
      const read = {
        vendor,
        said,
        stream: stream && { ...stream, isOwn: own.of === 'bytes' ? own.isOwn : undefined },
        usageOf: usageOf?.(asked),
        priced,
        complete,
        lacking: isDivided ? division?.comparing?.() : undefined,
      }
      const parts = divided.map(({ asked: part, entries }) => {
        if (!passed) return translatedPart(read, part, vendor.request(part, context))
        const list = isDivided ? listOf(passed, { body: call.body, asked, entries }) : {}
        return passedPart(read, passed, { asked: part, text: call.text, context, list })
      })
      return {
        address: { ...addressOf(vendor), config },
        parts,
        isPartial: division?.isPartial ?? false,
        isPassThrough: passed !== undefined,
        losses: () => [...warnings.list(), ...lost.list()],
        stream: stream && {
          of: stream.of,
          open: stream.open,
          isEvents: written()?.isEvents ?? false,
          usage(reported, header) {
            const usage = withUnits(reported ?? vendor.usageIn?.(header), usageOf?.(asked))
            return usage && priced ? priced(usage, asked, undefined) : usage
          },
        },
        replyType(sent, isWhole) {
          const isOfBytes = !isWhole && own?.of === 'bytes'
          return (
            written()?.type(vendor.type?.(asked, isOfBytes ? sent : undefined)) ??
            client.wholeType?.(asked) ??
            'application/json'
          )
        },
        write(answers, usage) {
          const [first] = answers
          const stream = written()
          const isOwn = first !== undefined && !parts[0]?.isCompleted(first)
          if (passed && isOwn && !stream && !isDivided) return first && passed.rewritten?.(first, asked)
          const given = joined(parts.flatMap(({ given }, at) => (answers[at] ? [given(answers[at])] : [])))
          const { model = target.model } = given
          if (stream) return bytesOf(stream, { ...given, usage })
          return client.write({ ...given, usage }, terms(model))
        },
      }
    },
  }

  function clientOf(call: KindCall): ClientForm<Asked, Given, Piece> {
    const client = clients[call.client]
    if (!client) throw new TypeError(`There is no form "${call.client}" of clients.`)
    return client
  }

  function askedOf(call: KindCall, warnings: Warnings): Asked {
    return clientOf(call).read(call.body, {
      warnings,
      header: call.header,
      files: (call.form ?? []).filter((part) => 'bytes' in part),
      now: call.now(),
    })
  }

  function vendorOf(target: ProviderTarget): VendorForm<Asked, Given, Piece> {
    const named = target.form && vendors.find(({ name }) => name === target.form)
    return named || vendors.find((vendor) => isOf(vendor, target)) || otherwise
  }

  function partsOf(
    asked: Asked,
    most = Number.POSITIVE_INFINITY,
  ): ReadonlyArray<{ asked: Asked; entries: EntryRange }> {
    const size = division?.sizeOf(asked) ?? 0
    if (!division || size <= most) return [{ asked, entries: [0, size] }]
    return Array.from({ length: Math.ceil(size / most) }, (_, at) => {
      const entries = [at * most, Math.min(size, (at + 1) * most)] as const
      return { asked: division.slice(asked, ...entries), entries }
    })
  }

  /** The member of a body that holds its entries, with those of a part alone. */
  function listOf(
    { lists = [] }: PassedForm<Asked>,
    { body, asked, entries }: { body: JsonObject; asked: Asked; entries: EntryRange },
  ): JsonObject {
    const size = division?.sizeOf(asked)
    const found = lists.flatMap((name) => {
      const list = body[name]
      return Array.isArray(list) && list.length === size ? [{ [name]: list.slice(...entries) }] : []
    })
    return found[0] ?? {}
  }

  function joined(given: readonly Given[]): Given {
    const [first, ...others] = given
    if (first === undefined) throw new TypeError('There is no answer to write.')
    return division && others.length > 0 ? division.join(given) : first
  }
}

/** A whole answer for a client that reads it piece by piece. */
function bytesOf<Given extends Used, Piece>(stream: ClientStream<Given, Piece>, given: Given): Uint8Array {
  const parts = [...stream.whole(given).map((piece) => stream.piece(piece)), stream.end(given.usage)]
  return concatBytes(parts.filter((part) => part !== undefined))
}

/** A stream as it is carried: written by `written`, or as it is. */
function streamOf<Given, Piece>(
  of: CarriedStream['of'],
  made: () => VendorStream<Piece> | VendorStream<unknown> | undefined,
  written: (() => ClientStream<Given, Piece> | undefined) | undefined,
): Pick<CarriedStream, 'of' | 'open'> {
  return {
    of,
    open() {
      const own = made() // it remembers what came before
      const writer = written?.()
      return {
        read(said) {
          const isBytes = said instanceof Uint8Array
          const reading = isBytes ? own?.of === 'bytes' && own.read(said) : own?.of === 'events' && own.read(said)
          const { pieces = [], ...progress } = reading || {}
          const hasPieces = pieces.length > 0
          if (!writer) return { ...progress, hasPieces, bytes: [isBytes ? said : encodeUtf8(eventText(said))] }
          const bytes = (pieces as readonly Piece[]).flatMap((piece) => writer.piece(piece) ?? []) // only what is passed on is unknown
          return { ...progress, hasPieces, bytes }
        },
        end(usage) {
          const last = writer?.end(usage)
          return last ? [last] : []
        },
      }
    },
  }
}

const isOf = <Asked, Given extends Used, Piece>(
  { providers, isOf }: VendorForm<Asked, Given, Piece>,
  target: ProviderTarget,
) => (isOf ? isOf(target) : (providers?.includes(target.provider) ?? false))

/** How requests of these clients are passed through to a target, if they are. */
const passedFor = <Asked, Given extends Used, Piece>(
  { passes = [] }: VendorForm<Asked, Given, Piece>,
  { client, asked, target, isDivided }: { client: string; asked: Asked; target: ProviderTarget; isDivided: boolean },
) =>
  passes.find(
    ({ client: own, lists, isOpen }) => own === client && (!isDivided || lists) && isOpen?.(asked, target) !== false,
  )

const addressOf = ({ baseUrl, base, keyHeader }: Carried['address']): Carried['address'] => ({
  baseUrl,
  base,
  keyHeader,
})

/** How the answers to the parts of a request are read. */
interface PartReading<Asked, Given extends Used, Piece> {
  vendor: VendorForm<Asked, Given, Piece>
  stream: (Pick<CarriedStream, 'of' | 'open'> & { isOwn: AnswerReader['isInBytes'] | undefined }) | undefined
  /** What it has used where its vendor reports nothing. */
  usageOf: Used['usage']
  said: AnswerReader['said'] | undefined
  priced: FormsOfKind<Asked, Given, Piece>['priced'] | undefined
  complete: FormsOfKind<Asked, Given, Piece>['complete'] | undefined
  /** What an answer lacks beside those to the other parts. */
  lacking: ((given: Given) => string | undefined) | undefined
}

interface ReadPart<Given> extends CarriedPart {
  given(json: JsonObject): Given
  /** Was the answer changed after the provider sent it? */
  isCompleted(json: JsonObject): boolean
}

interface Passed<Asked> {
  asked: Asked
  text: string
  context: VendorContext
  /** The member that a part of a divided request has in place of the whole one. */
  list: JsonObject
}

function passedPart<Asked, Given extends Used, Piece>(
  reading: PartReading<Asked, Given, Piece>,
  { path, without, added, skim }: PassedForm<Asked>,
  { asked, text, context, list }: Passed<Asked>,
): ReadPart<Given> {
  const isPart = Object.keys(list).length > 0
  const body = { ...context.body, ...list }
  const more = { ...list, ...added?.(asked, { ...context, body }) }
  const left = [...(without?.(asked, context) ?? []), ...Object.keys(more)].filter((name) => Object.hasOwn(body, name))
  const isSame = left.length === 0 && Object.keys(more).length === 0
  const sent = isSame ? text : withMembers(text, { without: left, added: more })
  const { answers, ...read } = answersTo(asked, reading)
  const form = context.form && passedForm(context.form, { left, more, model: modelInForm(context.target) })
  return {
    request: { path: path(context.target), ...(form ? encoded(form) : { body: sent }) },
    answers: skim && !isPart ? { ...answers, skim: (answer) => skim(answer, asked) } : answers,
    ...read,
  }
}

/** The target's name of the model in a form; at Azure that of its deployment, which only in JSON is set with the address. */
export const modelInForm = ({ cloud, connection, model }: ProviderTarget): string =>
  (cloud === 'azure' ? connection.providerSpecificData?.deployment : undefined) ?? model

/** The parts of a client's form for a target: with its name of the model, without those that are left out, and with more fields. */
function passedForm(
  form: readonly FormPart[],
  { left, more, model }: { left: readonly string[]; more: JsonObject; model: string },
): FormPart[] {
  const own = form.filter(({ name }) => name !== 'model' && !left.includes(name.split('[', 1)[0] ?? name))
  const added = Object.entries(more).map(([name, value]) => ({ name, value: String(value) }))
  return [{ name: 'model', value: model }, ...added, ...own]
}

/** A form as it is sent, with a boundary of its own. */
function encoded(form: readonly FormPart[]): { body: Uint8Array; headers: Record<string, string> } {
  const { contentType, bytes } = writeForm(form)
  return { body: bytes, headers: { 'content-type': contentType } }
}

function translatedPart<Asked, Given extends Used, Piece>(
  reading: PartReading<Asked, Given, Piece>,
  asked: Asked,
  { body, form, bytes, headers, ...request }: VendorRequest,
): ReadPart<Given> {
  const sent = form
    ? encoded(form)
    : bytes
      ? { body: bytes.bytes, headers: { 'content-type': bytes.type } }
      : { ...(body && { body: JSON.stringify(body) }), headers: {} }
  return { request: { ...request, ...sent, headers: { ...headers, ...sent.headers } }, ...answersTo(asked, reading) }
}

/** How the answers of a vendor to this request are read, each once. */
function answersTo<Asked, Given extends Used, Piece>(
  asked: Asked,
  { vendor, said, stream, usageOf, priced, complete, lacking }: PartReading<Asked, Given, Piece>,
): Omit<ReadPart<Given>, 'request'> {
  const { arraysAs, textAs, bytesAs, errorIn, usageIn, job } = vendor
  let completed: JsonObject | undefined
  let last: { json: JsonObject; given: Given | string } | undefined

  function read(json: JsonObject): Given | string {
    if (last?.json !== json) {
      const given = vendor.answer(json, asked)
      last = { json, given: (typeof given === 'string' ? undefined : lacking?.(given)) ?? given }
    }
    return last.given
  }

  const answers = wholeAnswers({
    ...(said && { said }),
    isAnswer: (json) => typeof read(json) !== 'string',
    needs(json) {
      const given = read(json)
      return typeof given === 'string' ? given : undefined
    },
    ...(arraysAs !== undefined && { arraysAs }),
    ...(textAs !== undefined && { textAs }),
    ...(bytesAs !== undefined && { bytesAs }),
    errorIn(json) {
      if (!isObject(json)) return undefined
      return errorIn ? errorIn(json, asked) : embeddedError(json.error)
    },
    usageOf(json, header) {
      const given = isObject(json) ? read(json) : ''
      if (typeof given === 'string') return undefined
      const usage = withUnits(given.usage ?? (header && usageIn?.(header)), usageOf)
      return usage && priced ? priced(usage, asked, given) : usage
    },
  })
  function given(json: JsonObject): Given {
    const given = read(json)
    if (typeof given === 'string') throw new TypeError('A body that is no answer was taken for one.')
    return given
  }

  return {
    answers: stream ? { ...answers, ...watched(stream) } : answers,
    given,
    isCompleted: (json) => json === completed,
    ...((job || complete) && {
      async completed(json, tools) {
        const at = job?.at(json, tools.submitted)
        const done = job && at ? { ...(await tools.jobDone(at, job)), ...at.kept } : json
        const own = read(done)
        if (typeof own === 'string')
          throw gatewayError('UPSTREAM_INVALID', { message: `The provider ended its job without ${own}.` })
        const whole = (await complete?.(own, asked, tools)) ?? own
        if (done === json && whole === own) return json
        completed = { ...done }
        last = { json: completed, given: whole }
        return completed
      },
    }),
  }
}

/** What a vendor reports, with the units that are counted here where it reports tokens alone: the model may have a price of these. */
const withUnits = (reported: Used['usage'], counted: Used['usage']): Used['usage'] =>
  reported && counted?.units && !reported.units ? { ...reported, units: counted.units } : (reported ?? counted)

/** How a stream is followed until its first piece. */
function watched({
  of,
  open,
  isOwn,
}: Pick<CarriedStream, 'of' | 'open'> & { isOwn: AnswerReader['isInBytes'] | undefined }): Partial<AnswerReader> {
  return {
    ...(isOwn && { isInBytes: isOwn }),
    watchStream() {
      const { read } = open()
      const state = newStreamProgress()
      return Object.assign(state, {
        observe(event: SseEvent) {
          if (of === 'bytes') {
            state.started = state.ended = true // whatever comes is sound, and its end is that of the connection
            return
          }
          const { hasPieces, usage, error, isLast } = read(event)
          if (error) state.error = error
          else if (hasPieces) state.started = true
          if (usage) state.usage = usage
          if (isLast) state.ended = state.closed = true
        },
      })
    },
  }
}
