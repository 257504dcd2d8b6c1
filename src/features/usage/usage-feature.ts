import type { Feature } from '../../feature.ts'
import type { RequestLog } from '../../request/request-log.ts'
import { makeKeptRequest } from './kept-request.ts'
import type { UsageStore } from './usage.ts'

/** Stores a record of each request when it ends. */
export const createUsageFeature = (usage: UsageStore): Feature => ({
  name: 'usage',
  events: {
    ended(log: RequestLog) {
      if (log.ending) usage.keep(makeKeptRequest(log, log.ending), log.waitUntil)
    },
  },
  close: () => usage.close(),
})
