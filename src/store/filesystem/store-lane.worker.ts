import { wallMicros } from "../../platform/wall-micros.ts";
import { serveLane } from "./serve-lane.ts";
import { systemDisk } from "./system-disk.ts";

serveLane(systemDisk, { wallMicros });
