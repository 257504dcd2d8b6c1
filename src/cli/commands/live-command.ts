import type { ClientError, LiveEvent, LiveEventType } from '../../client/client.ts'
import type { StoredSkip } from '../../features/usage/request-record.ts'
import { toOneLine } from '../logger.ts'
import type { CliCommand } from './command.ts'
import { createNumberOption, createTextOption } from './input-options.ts'

export const live = {
  help: 'Follow requests and health changes as they happen',
  notes: 'Press Ctrl-C to stop. If the connection drops, the command reconnects and continues where it left off.',
  actions: {
    '': {
      help: 'Print one line per event: requests and their attempts, target health, and record changes',
      fields: {
        types: createTextOption(
          'types',
          'finished,health',
          'Only these types: running, began, attempt, first-word, finished, health, changed, lost',
        ),
        limit: createNumberOption('limit', 'limit', 'Stop after this many events'),
        after: createTextOption('after', '<id>', 'Continue after the event with this ID (shown by --json)'),
      },
      async run({ api, input, print }) {
        let hasConnected = false
        const onConnection = (error: ClientError | undefined) => {
          if (error && !hasConnected) throw error
          hasConnected = true
          if (error) print({ body: { lost: error.message }, text: '', warnings: [`${error.message} Reconnecting.`] })
        }
        const { types, after, limit } = input
        let remaining = typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
        const options = {
          onConnection,
          ...(typeof types === 'string' && { types: types.split(',') as LiveEventType[] }), // the gateway validates the types
          ...(typeof after === 'string' && { after }),
        }
        for await (const event of api.live(options)) {
          print({ body: event, text: formatEvent(event) })
          if (--remaining <= 0) break
        }
        return undefined
      },
    },
  },
} satisfies CliCommand

function formatEvent(event: LiveEvent): string {
  return `${toOneLine([event.type, ...describeEvent(event)].join(' '))}\n`
}

function describeEvent({ type, data }: LiveEvent): Array<string | number> {
  switch (type) {
    case 'running':
      return [`${data.requests.length} requests in flight`]
    case 'lost':
      return [data.events === undefined ? 'some events were dropped' : `${data.events} events were dropped`]
    case 'began':
      return [data.id, data.endpoint, data.model ?? '']
    case 'attempt':
      return [data.id, ...describeAttempt(data)]
    case 'first-word':
      return [data.id, `after ${data.firstByteMs} ms`]
    case 'finished':
      return [data.id, data.status, data.end, data.model ?? '', `${data.durationMs} ms`, data.error ?? '']
    case 'health':
      return [data.level, data.provider, data.model ?? '', data.state, data.state === 'ok' ? '' : data.reason]
    case 'changed':
      return [data.collection, data.id ?? '']
  }
}

function describeAttempt(data: Extract<LiveEvent, { type: 'attempt' }>['data']): Array<string | number> {
  if ('skipped' in data) return [getSkippedName(data), `skipped: ${data.skipped}`]
  const { provider, model, outcome, status, message } = data
  const end = outcome === undefined ? ['...'] : [status ?? '', outcome, message ?? '']
  return [`${provider}/${model}`, ...end]
}

const getSkippedName = (skip: StoredSkip) => ('entry' in skip ? skip.entry : `${skip.provider}/${skip.model}`)
