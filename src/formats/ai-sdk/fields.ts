/** What differs between the versions of the protocol, for the answer to a client. */
export interface ProtocolVersion {
  /** Is the data of a file tagged by what it is: `{ type: 'data', data }`? */
  tagsFiles: boolean
  /** Does a text name the sources that support it, besides those that are parts of their own? */
  citesInTexts: boolean
}

export const versions: Readonly<Record<string, ProtocolVersion>> = {
  '3': { tagsFiles: false, citesInTexts: false }, // AI SDK 6
  '4': { tagsFiles: true, citesInTexts: true }, // AI SDK 7
}
