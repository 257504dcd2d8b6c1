/** The text of a user's turn where a format or model requires one and there is none, or an empty one. */
export const GO_ON = '(continue)'
