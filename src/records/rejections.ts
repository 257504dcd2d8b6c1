import { type GatewayError, gatewayError } from '../errors.ts'
import type { GroupRecord, KeyRecord } from './record-collections.ts'

/** Creates the error for a group whose record is unsigned. */
export const createUnsignedGroupError = ({ id, name }: GroupRecord): GatewayError =>
  gatewayError('CALLER_UNUSABLE', {
    message: `The record of the group "${name}" was not written by a gateway with this secret, so its keys are rejected. Ask the operator of this gateway to confirm it. ${CONFIRM_GROUP_ADVICE}`,
    data: { group: id },
  })

/** Advice for a group whose record is unsigned. */
export const CONFIRM_GROUP_ADVICE = 'Pause, resume, or delete it: PUT /api/groups/{id} with "isActive", or DELETE.'

/** Creates the error for a key whose group doesn't exist. */
export const createMissingGroupError = (key: { id: string; name: string }, group: string): GatewayError =>
  gatewayError('CALLER_UNUSABLE', {
    message: `The API key "${key.name}" belongs to the group "${group}", which does not exist. Ask the operator of this gateway to set the key's group to another one or null: PUT /api/keys/{id} with "group".`,
    data: { key: key.id, group },
  })

/** Creates the error for a key whose record is unsigned. */
export const createUnsignedKeyError = ({ id, name }: KeyRecord): GatewayError =>
  gatewayError('CALLER_UNUSABLE', {
    message: `The record of the API key "${name}" was not written by a gateway with this secret, so the key is rejected. Ask the operator of this gateway to confirm it. ${CONFIRM_KEY_ADVICE}`,
    data: { key: id },
  })

/** Creates the error for a previous key value whose record is unsigned. */
export const createUnsignedPreviousKeyError = (): GatewayError =>
  gatewayError('CALLER_UNUSABLE', {
    message:
      "The record of this API key's previous value was not written by a gateway with this secret. Use the key's new value.",
  })

/** Advice for a key whose record is unsigned. */
export const CONFIRM_KEY_ADVICE = 'Pause, resume, or delete it: PUT /api/keys/{id} with "isActive", or DELETE.'

/** Creates the error for a deleted key's in-flight requests. */
export const createDeletedKeyError = (): GatewayError =>
  gatewayError('KEY_UNKNOWN', {
    message: 'This API key has been deleted. Ask the operator of this gateway for a new one.',
  })
