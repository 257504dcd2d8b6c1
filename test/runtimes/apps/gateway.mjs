import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

/** The gateway that each runtime serves. It is empty, and managed with the tests' token. */
export const openGateway = (storage = memoryStorage()) =>
  createGateway({
    storage,
    management: { token: 'test-token-of-thirty-two-characters' },
    logger: false,
    limits: { maxBodyBytes: 1024 * 1024, bodyTimeoutMs: 3_000 },
  })
