/** A chart uses what the converter, or a machine as data, has no word for. The message is the reason, a phrase. */
export class NotConverted extends Error {}
