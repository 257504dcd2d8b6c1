import type { KeptRequest } from '../usage/kept/record.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { LeftOutEntry, Skip } from './records.ts'
import type { RequestLog } from './request-log.ts'

/** What happens to requests. */
type Happening =
  /** It has been read. */
  | ['began', RequestLog]
  /** An attempt begins, or has its outcome. */
  | ['attempt', RequestLog, AttemptLog]
  | ['skipped', RequestLog, Skip | LeftOutEntry]
  | ['finished', KeptRequest]

/** Who watches requests while they happen. */
export interface Live {
  /** Absent while nobody does. Must not throw. */
  tell?: ((...happening: Happening) => void) | undefined
  /** Ends all streams of what happens; absent where there were none. */
  end?(): void
}
