import type { KeptRequest } from '../usage/kept/record.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { LeftOutEntry, Skip } from './records.ts'
import type { RequestLog } from './request-log.ts'

/** An event in the course of a request. */
type Happening =
  /** The request has been read. */
  | ['began', RequestLog]
  /** An attempt begins, or has its outcome. */
  | ['attempt', RequestLog, AttemptLog]
  | ['skipped', RequestLog, Skip | LeftOutEntry]
  | ['finished', KeptRequest]

/** The receiver of the live events of requests. */
export interface Live {
  /** Gets each event; absent while there is no reader. Must not throw. */
  tell?: ((...happening: Happening) => void) | undefined
  /** Ends all streams of live events; absent if there were none. */
  end?(): void
}
