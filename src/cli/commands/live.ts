import type { ClientError, LiveEvent, LiveEventType } from '../../client/client.ts'
import type { KeptSkip } from '../../usage/kept/record.ts'
import { oneLine } from '../logger.ts'
import type { CliCommand } from './command.ts'
import { number, text } from './fields.ts'

export const live = {
  help: 'What happens in the gateway, while it happens',
  notes: 'Until it is stopped, with Ctrl-C. When the connection is lost, it connects again, and goes on where it was.',
  actions: {
    '': {
      help: 'Prints a line for each event: requests with their attempts, the health of targets, changes of records',
      fields: {
        types: text(
          'types',
          'finished,health',
          'Only these: running, began, attempt, first-word, finished, health, changed, lost',
        ),
        limit: number('limit', 'limit', 'Stops after this number of events'),
        after: text('after', '<id>', 'Goes on after the event with this id, as --json prints it'),
      },
      async run({ api, input, print }) {
        let wasOpen = false
        const onConnection = (error: ClientError | undefined) => {
          if (error && !wasOpen) throw error
          wasOpen = true
          if (error) print({ body: { lost: error.message }, text: '', warnings: [`${error.message} Trying again.`] })
        }
        const { types, after, limit } = input
        let left = typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
        const options = {
          onConnection,
          ...(typeof types === 'string' && { types: types.split(',') as LiveEventType[] }), // the gateway checks them
          ...(typeof after === 'string' && { after }),
        }
        for await (const event of api.live(options)) {
          print({ body: event, text: lineOf(event) })
          if (--left <= 0) break
        }
        return undefined
      },
    },
  },
} satisfies CliCommand

function lineOf(event: LiveEvent): string {
  return `${oneLine([event.type, ...wordsOf(event)].join(' '))}\n`
}

function wordsOf({ type, data }: LiveEvent): Array<string | number> {
  switch (type) {
    case 'running':
      return [`${data.requests.length} requests under way`]
    case 'lost':
      return [data.events === undefined ? 'events were left out' : `${data.events} events were left out`]
    case 'began':
      return [data.id, data.endpoint, data.model ?? '']
    case 'attempt':
      return [data.id, ...attemptWords(data)]
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

function attemptWords(data: Extract<LiveEvent, { type: 'attempt' }>['data']): Array<string | number> {
  if ('skipped' in data) return [skippedName(data), `skipped: ${data.skipped}`]
  const { provider, model, outcome, status, message } = data
  const end = outcome === undefined ? ['...'] : [status ?? '', outcome, message ?? '']
  return [`${provider}/${model}`, ...end]
}

const skippedName = (skip: KeptSkip) => ('entry' in skip ? skip.entry : `${skip.provider}/${skip.model}`)
